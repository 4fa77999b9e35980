-- Runs with what their messages say. status: 0 pending, 1 running, 2 succeeded, 3 failed,
-- 4 cancelled, 5 skipped, 6 missed; null if the message is gone.
CREATE VIEW pawl.job_run_item AS
SELECT r.id, r.run_id, r.job_id, r.job_name, r.scheduled_time, r.triggered, r.missed, r.outcome, r.created_at, r.start_time,
       CAST(coalesce(r.outcome, CASE WHEN q.lo IS NOT NULL THEN 0 WHEN c.lo IS NOT NULL THEN 1 WHEN d.lo IS NOT NULL THEN 2 WHEN e.status = 5 THEN 4 ELSE e.status END) AS smallint) AS status,
       coalesce(r.end_time, d.processed_at, CASE WHEN e.status >= 3 THEN e.updated_at END) AS end_time,
       coalesce(q.retry, c.retry, e.retry_count, r.retry_count) AS retry_count,
       CASE WHEN c.owner IS NOT NULL THEN LOWER(CONVERT(nvarchar(36), c.owner)) COLLATE Latin1_General_100_BIN2 ELSE coalesce(d.processed_by, r.claimed_by) END AS claimed_by,
       coalesce(e.last_error, r.last_error) AS last_error
  FROM pawl.job_run r
  LEFT JOIN pawl.outbox_ready q ON r.outcome IS NULL AND q.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= r.id) AND q.lo + q.n > r.id
  LEFT JOIN pawl.outbox_claimed c ON r.outcome IS NULL AND c.lo = (SELECT max(x.lo) FROM pawl.outbox_claimed x WHERE x.lo <= r.id) AND c.lo + c.n > r.id
  LEFT JOIN pawl.outbox_done  d ON r.outcome IS NULL AND d.lo = (SELECT max(x.lo) FROM pawl.outbox_done  x WHERE x.lo <= r.id) AND d.lo + d.n > r.id
  LEFT JOIN pawl.outbox_exception e ON r.outcome IS NULL AND e.id = r.id;
