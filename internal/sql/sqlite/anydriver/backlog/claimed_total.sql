SELECT lane, sum(n) AS n, count(*) AS runs FROM (SELECT lane, n FROM pawl.outbox_claim ORDER BY lo LIMIT @runs) GROUP BY lane
