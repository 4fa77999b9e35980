-- Delete a job and its pending runs; a running one continues (D-84). Returns 0 for an unknown
-- job.
CREATE OR REPLACE FUNCTION pawl.job_remove(p_name text) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_job uuid;
  v_ids bigint[];
BEGIN
  PERFORM pawl.check_isolation('delete');
  SELECT j.id INTO v_job FROM pawl.job j WHERE j.name = p_name FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  v_ids := ARRAY(SELECT r.id FROM pawl.job_run r WHERE r.job_id = v_job AND r.outcome IS NULL);
  v_ids := ARRAY(SELECT w.lo FROM pawl.outbox_withdraw(v_ids, false) w);
  INSERT INTO pawl.outbox_exception AS e (id, status, last_error, updated_at) SELECT i, 4, 'the job was deleted', clock_timestamp() FROM unnest(v_ids) i
  ON CONFLICT (id) DO UPDATE SET status = 4, next_attempt_at = NULL, last_error = excluded.last_error, fingerprint = NULL, updated_at = excluded.updated_at;
  PERFORM pawl.outbox_join_settle(s.o_lo, s.o_n) FROM pawl.outbox_runs(v_ids) s;
  DELETE FROM pawl.job_run r WHERE r.id = ANY (v_ids);
  DELETE FROM pawl.job j WHERE j.id = v_job;
  RETURN 1;
END $f$;
