-- How many messages of each lane are among the first ?2 claimed runs, and how many
-- of these runs there are. ?1 now.
SELECT lane, sum(n), count(*) FROM (SELECT lane, n FROM pawl.outbox_claim ORDER BY lo LIMIT ?2) GROUP BY lane
