-- Due runs that are no suspects. ?1 now, ?2 how many.
SELECT r.id FROM pawl.job_run r INDEXED BY pawl.job_run_open
  JOIN pawl.outbox_ready q ON q.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= r.id) AND q.lo + q.n > r.id
 WHERE r.outcome IS NULL AND q.at <= ?1 AND q.suspect = 0 ORDER BY r.id LIMIT ?2
