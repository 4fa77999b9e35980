SELECT r.id, q.suspect FROM pawl.outbox_ready q INDEXED BY pawl.outbox_ready_suspect
  JOIN pawl.job_run r ON r.id >= q.lo AND r.id < q.lo + q.n
 WHERE q.suspect > 0 AND q.at <= @now AND r.outcome IS NULL ORDER BY r.id LIMIT @most
