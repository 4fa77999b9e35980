-- Limit a topic, in all queues together, or a queue: how many messages are claimed at once, and how
-- many by a rate in each period (default a second), of which a burst may be claimed at once (default
-- what the rate gives in a fifth of a second). 0 and null are none. Returns whether that changes
-- anything. It refuses what Go's package throttle refuses.
CREATE OR REPLACE FUNCTION pawl.limit_set(kind text, name text, concurrency integer DEFAULT NULL, rate integer DEFAULT NULL, period_seconds double precision DEFAULT NULL,
  burst integer DEFAULT NULL, reason text DEFAULT NULL) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_some   integer := coalesce(concurrency, 0);
  v_rate   integer := coalesce(rate, 0);
  v_micros bigint;
BEGIN
  PERFORM pawl.check_subject(kind, name);
  IF v_some = 0 AND v_rate = 0 THEN
    PERFORM pawl.check_refuse('limit', 'neither concurrency nor rate');
  END IF;
  IF v_rate = 0 AND (coalesce(period_seconds, 0) <> 0 OR coalesce(burst, 0) <> 0) THEN
    PERFORM pawl.check_refuse('rate', '0, with a period or a burst');
  END IF;
  PERFORM pawl.check_option('concurrency', v_some, 1, 10000), pawl.check_option('rate', v_rate, 1, 1000000);
  v_micros := coalesce(nullif(pawl.check_option('period', period_seconds, 0.0001, 86400, '100us', '24h'), 0), 1) * 1e6;
  PERFORM pawl.check_option('burst', burst, 1, 1000000);
  IF v_rate * 100::bigint > v_micros THEN
    PERFORM pawl.check_refuse('rate', 'more than one in 100us');
  END IF;
  PERFORM pawl.check_text('reason', reason, 1000, false);
  RETURN pawl.act_limit(kind, name, nullif(v_some, 0), nullif(v_rate, 0), v_micros * interval '1 microsecond',
    coalesce(nullif(burst, 0), greatest(1, v_rate * 200000::bigint / v_micros)::integer), nullif(reason, ''), NULL, current_user::text, kind || ' ' || name, nullif(reason, '')) > 0;
END $f$;
