-- Put claimed timers back for another attempt, after a delay (null: backoff). IS TRUE has the list hashed:
-- ANY compares each timer with all of it.
CREATE OR REPLACE FUNCTION pawl.timer_abandon_rows(p_owner uuid, p_timers uuid[], p_delay interval, p_error text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_got bigint;
  v_at  timestamptz;
BEGIN
  WITH back AS (
    UPDATE pawl.timer t SET status = 0, at = clock_timestamp() + coalesce(p_delay, pawl.backoff(t.retry_count) * interval '1 second'), retry_count = t.retry_count + 1, suspect = 0,
           owner = NULL, claimed_at = NULL, locked_until = NULL, last_error = coalesce(p_error, t.last_error)
     WHERE t.status = 1 AND t.owner = p_owner AND (t.timer_id IN (SELECT u.id FROM unnest(p_timers) u(id))) IS TRUE RETURNING t.at)
  SELECT count(*), min(back.at) INTO v_got, v_at FROM back;
  IF v_got > 0 THEN
    PERFORM pawl.timer_wake(v_at);
  END IF;
  RETURN v_got;
END $f$;
