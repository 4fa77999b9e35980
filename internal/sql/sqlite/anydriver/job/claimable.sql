SELECT r.id FROM pawl.job_run r INDEXED BY pawl.job_run_open JOIN pawl.outbox_ready q ON pawl.covers(pawl.outbox_ready, q, r.id)
 WHERE r.outcome IS NULL AND q.at <= @now AND q.suspect = 0 ORDER BY r.id LIMIT @most
