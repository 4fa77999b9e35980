-- Wake the schedulers if one may sleep past p_at: not if they will wake before it anyway.
-- Under serializable this is not tested: the read would conflict with every timer that is
-- scheduled between now and then. Only schedulers wait on this queue, which no message can name.
CREATE OR REPLACE FUNCTION pawl.timer_wake(p_at timestamptz) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now timestamptz := clock_timestamp();
BEGIN
  IF p_at <= v_now OR current_setting('transaction_isolation') = 'serializable' OR NOT EXISTS (SELECT FROM pawl.timer t WHERE t.status = 0 AND t.at > v_now AND t.at < p_at) THEN
    PERFORM pawl.outbox_wake(ARRAY['']);
  END IF;
END $f$;
