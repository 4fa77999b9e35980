-- Claim due runs of jobs, and record their start. They are messages, so one that a worker of
-- pawl has claimed is not returned.
CREATE OR REPLACE FUNCTION pawl.job_run_claim(owner_token uuid, lease_seconds integer, batch_size integer DEFAULT 50)
RETURNS TABLE (id bigint, run_id uuid, job_name text, scheduled_time timestamptz, topic text, payload text, headers text, retry_count integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_claim(owner_token, lease_seconds, batch_size, 'default');
  PERFORM pawl.outbox_reap_runs(100, p_turn => (random() * 1000000)::bigint);
  RETURN QUERY SELECT c.id, c.message_id, r.job_name, r.scheduled_time, c.topic, pawl.outbox_text(c.payload), c.headers, c.retry
    FROM pawl.job_claim_runs(owner_token, make_interval(secs => lease_seconds), least(batch_size, 1000)) c JOIN pawl.job_run r ON r.id = c.id ORDER BY c.id;
END $f$;
