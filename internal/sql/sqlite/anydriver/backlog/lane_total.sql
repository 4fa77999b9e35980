SELECT count(*) AS runs, coalesce(sum(n), 0) AS n FROM (
  SELECT n FROM pawl.outbox_ready WHERE lane = @lane AND at > @after AND at <= @by ORDER BY at, lo LIMIT @runs)
