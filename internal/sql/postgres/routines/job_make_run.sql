-- Create a run of a job whose row is locked, and its message; or record that there is none,
-- because times were missed or the last run has not ended (D-83, D-86). Returns 1 if there is
-- a new message.
CREATE OR REPLACE FUNCTION pawl.job_make_run(p_job uuid, p_id bigint, p_run uuid, p_nominal timestamptz, p_missed bigint, p_triggered boolean) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now     timestamptz := clock_timestamp();
  v_job     record;
  v_outcome smallint;
BEGIN
  SELECT j.name, j.overlap, j.lane, j.topic, j.headers, j.payload INTO v_job FROM pawl.job j WHERE j.id = p_job;
  IF p_missed > 0 THEN
    v_outcome := 6;
  ELSIF v_job.overlap = 1 AND NOT p_triggered
    AND EXISTS (SELECT FROM pawl.job_run_item i WHERE i.job_id = p_job AND i.outcome IS NULL AND i.status < 2) THEN
    v_outcome := 5;
  END IF;
  INSERT INTO pawl.job_run (id, run_id, job_id, job_name, scheduled_time, triggered, missed, outcome, created_at, end_time)
  VALUES (p_id, p_run, p_job, v_job.name, p_nominal, p_triggered, p_missed, v_outcome, v_now, CASE WHEN v_outcome IS NOT NULL THEN v_now END)
  ON CONFLICT (job_id, scheduled_time) WHERE NOT triggered DO NOTHING;
  IF NOT FOUND OR v_outcome IS NOT NULL THEN
    RETURN 0;
  END IF;
  INSERT INTO pawl.outbox_message (id, message_id, lane, due_at, topic, headers, payload)
  VALUES (p_id, p_run, v_job.lane, p_nominal, v_job.topic, v_job.headers, v_job.payload);
  INSERT INTO pawl.outbox_ready (lane, at, lo, n) VALUES (v_job.lane, v_now, p_id, 1);
  UPDATE pawl.job j SET last_run = p_id WHERE j.id = p_job;
  PERFORM pawl.outbox_wake(ARRAY[(SELECT l.queue FROM pawl.outbox_lane l WHERE l.id = v_job.lane)]);
  RETURN 1;
END $f$;
