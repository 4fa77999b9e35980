pawl.at_most(@most)
DELETE t FROM (
  SELECT TOP (@most) x.id FROM pawl.timer x WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK) WHERE x.status >= 2 AND x.processed_at < pawl.minus(@now, @age) ORDER BY x.processed_at) old
 INNER LOOP JOIN pawl.timer t WITH (FORCESEEK) ON t.id = old.id
