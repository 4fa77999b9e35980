-- Remove messages from ready, whatever runs they are part of, and return them, a run of one
-- each. p_due: only those that are due. For a run that is being moved this waits, and then
-- reads again with a new snapshot (layout rule 7).
CREATE OR REPLACE FUNCTION pawl.outbox_withdraw(p_ids bigint[], p_due boolean) RETURNS SETOF pawl.outbox_run LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_id  bigint;
  v_run pawl.outbox_ready;
BEGIN
  FOREACH v_id IN ARRAY ARRAY(SELECT DISTINCT u.id FROM unnest(p_ids) u(id) ORDER BY u.id) LOOP
    LOOP
      DELETE FROM pawl.outbox_ready r
       WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= v_id) AND r.lo + r.n > v_id AND (NOT p_due OR r.at <= clock_timestamp())
      RETURNING * INTO v_run;
      IF FOUND THEN
        INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
        SELECT v_run.lane, v_run.at, part.lo, part.n, v_run.retry, v_run.suspect
          FROM (VALUES (v_run.lo, (v_id - v_run.lo)::integer), (v_id + 1, (v_run.lo + v_run.n - v_id - 1)::integer)) part(lo, n) WHERE part.n > 0;
        RETURN NEXT (v_id, 1, v_run.lane, v_run.at, v_run.retry, NULL, v_run.suspect)::pawl.outbox_run;
        EXIT;
      END IF;
      EXIT WHEN NOT EXISTS (
        SELECT FROM pawl.outbox_ready r
         WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= v_id) AND r.lo + r.n > v_id AND (NOT p_due OR r.at <= clock_timestamp()));
    END LOOP;
  END LOOP;
END $f$;
