pawl.at_most(@most)
DELETE i FROM (
  SELECT TOP (@most) x.seq FROM pawl.inbox x WITH (READPAST, UPDLOCK, READCOMMITTEDLOCK)
   WHERE x.status = N'Done' AND x.processed_utc < pawl.minus(@now, @age) ORDER BY x.processed_utc) old
 INNER LOOP JOIN pawl.inbox i WITH (FORCESEEK) ON i.seq = old.seq
