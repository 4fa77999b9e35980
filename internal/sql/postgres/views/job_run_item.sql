-- Runs with the states of their messages. status: 0 pending, 1 running, 2 succeeded,
-- 3 failed, 4 cancelled, 5 skipped, 6 missed; null if the message was deleted.
CREATE OR REPLACE VIEW pawl.job_run_item AS
SELECT r.id, r.run_id, r.job_id, r.job_name, r.scheduled_time, r.triggered, r.missed, r.outcome, r.created_at, r.start_time,
       coalesce(r.outcome, CASE WHEN q.lo IS NOT NULL THEN 0 WHEN c.lo IS NOT NULL THEN 1 WHEN d.lo IS NOT NULL THEN 2 WHEN e.status = 5 THEN 4 ELSE e.status END::smallint) AS status,
       coalesce(r.end_time, d.processed_at, CASE WHEN e.status >= 3 THEN e.updated_at END) AS end_time,
       coalesce(q.retry, c.retry, e.retry_count, r.retry_count) AS retry_count,
       coalesce(c.owner::text, d.processed_by, r.claimed_by) AS claimed_by,
       coalesce(e.last_error, r.last_error) AS last_error
  FROM pawl.job_run r
  LEFT JOIN LATERAL pawl.run_of(pawl.outbox_ready, r.id) q ON r.outcome IS NULL AND q.lo + q.n > r.id
  LEFT JOIN LATERAL pawl.run_of(pawl.outbox_claim, r.id) c ON r.outcome IS NULL AND c.lo + c.n > r.id
  LEFT JOIN LATERAL pawl.run_of(pawl.outbox_done, r.id) d ON r.outcome IS NULL AND d.lo + d.n > r.id
  pawl.join_row(pawl.outbox_exception, e, r.outcome IS NULL AND e.id = r.id);
