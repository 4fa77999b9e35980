-- Put claimed timers back whose lease has expired (D-73), as suspects. As in the outbox only
-- one that was claimed alone as a suspect has failed an attempt. "owner IS NOT NULL" and
-- "+ 0" make the planner look at the claimed timers and sort them, where it read all timers in order of their ids.
CREATE OR REPLACE FUNCTION pawl.timer_reap() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now timestamptz := clock_timestamp();
  v_got bigint;
BEGIN
  WITH back AS (
    UPDATE pawl.timer t SET status = 0, at = v_now, retry_count = t.retry_count + (t.suspect = 1)::integer, owner = NULL, claimed_at = NULL, locked_until = NULL,
           last_error = CASE t.suspect WHEN 1 THEN 'lease expired' ELSE t.last_error END,
           suspect = CASE t.suspect WHEN 0 THEN 1000 ELSE (t.suspect + 1) / 2 END
     WHERE t.id = ANY (ARRAY(
       SELECT x.id FROM pawl.timer x WHERE x.status = 1 AND x.owner IS NOT NULL AND x.locked_until < v_now
        ORDER BY x.id + 0 LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED)) RETURNING 1)
  SELECT count(*) INTO v_got FROM back;
  IF v_got > 0 THEN
    PERFORM pawl.timer_wake(v_now);
  END IF;
  RETURN v_got;
END $f$;
