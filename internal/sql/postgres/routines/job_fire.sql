-- Set jobs' next times and create the runs between, unless their version changed (D-82).
-- Arrays: the jobs with their versions, their old and new times, and when they are due then;
-- the runs with their jobs, nominal times, positions, ids, and how many times were missed (0:
-- a run). Returns how many messages it created.
CREATE OR REPLACE FUNCTION pawl.job_fire(p_job uuid[], p_version bigint[], p_from timestamptz[], p_next timestamptz[], p_due timestamptz[],
  p_run_job uuid[], p_nominal timestamptz[], p_id bigint[], p_run uuid[], p_missed bigint[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_plan record;
  v_run  record;
  v_got  bigint := 0;
BEGIN
  FOR v_plan IN SELECT u.* FROM unnest(p_job, p_version, p_from, p_next, p_due) u(id, version, since, next, due) ORDER BY u.id LOOP
    UPDATE pawl.job j SET next_time = v_plan.next, due_at = v_plan.due, last_error = NULL
     WHERE j.id = v_plan.id AND j.version = v_plan.version AND j.next_time = v_plan.since AND j.enabled;
    CONTINUE WHEN NOT FOUND;
    FOR v_run IN SELECT u.* FROM unnest(p_run_job, p_nominal, p_id, p_run, p_missed) u(job, nominal, id, run, missed) WHERE u.job = v_plan.id ORDER BY u.nominal LOOP
      v_got := v_got + pawl.job_make_run(v_plan.id, v_run.id, v_run.run, v_run.nominal, v_run.missed, false);
    END LOOP;
  END LOOP;
  RETURN v_got;
END $f$;
