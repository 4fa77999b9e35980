DELETE FROM pawl.inbox WITH (FORCESEEK) WHERE seq IN (
  SELECT TOP (@most) i.seq FROM pawl.inbox i WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK)
   WHERE i.status = N'Done' AND i.processed_utc < pawl.minus(@now, @age) ORDER BY i.processed_utc)
