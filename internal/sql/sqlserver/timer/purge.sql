DELETE FROM pawl.timer WITH (FORCESEEK) WHERE id IN (
  SELECT TOP (@most) x.id FROM pawl.timer x WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK) WHERE x.status >= 2 AND x.processed_at < pawl.minus(@now, @age) ORDER BY x.processed_at)
