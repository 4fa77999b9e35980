-- Limit a topic, each topic of a pattern, or a queue. Returns 1, or 0 if it is limited so already.
-- What is claimed already counts from now on.
CREATE OR REPLACE FUNCTION pawl.limit_put(p_kind text, p_name text, p_concurrency integer, p_rate integer, p_period interval, p_burst integer, p_actor text, p_reason text)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_got bigint;
BEGIN
  LOCK TABLE pawl.outbox_limit IN EXCLUSIVE MODE; -- see outbox_limits_share
  INSERT INTO pawl.outbox_limit AS l (kind, name, concurrency, rate, period, burst, actor, reason)
  VALUES (p_kind, p_name, p_concurrency, p_rate, p_period, p_burst, p_actor, p_reason)
  ON CONFLICT (kind, name) DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, period = excluded.period, burst = excluded.burst,
    at = excluded.at, actor = excluded.actor, reason = excluded.reason, next_at = '-infinity', pattern = ''
  WHERE (l.concurrency, l.rate, l.period, l.burst, l.pattern) IS DISTINCT FROM (excluded.concurrency, excluded.rate, excluded.period, excluded.burst, '');
  GET DIAGNOSTICS v_got = ROW_COUNT;
  IF v_got > 0 AND p_kind = 'each' THEN -- its topics get rows with the new bounds, from the longest pattern of each
    DELETE FROM pawl.outbox_limit l WHERE l.pattern <> '' AND length(l.pattern) <= length(p_name) AND pawl.falls_under(p_name, l.name);
  END IF;
  IF p_concurrency IS NOT NULL THEN
    PERFORM pawl.outbox_limit_hold(p_kind, p_name);
  END IF;
  PERFORM pawl.outbox_wake(ARRAY(SELECT q.queue FROM pawl.queues_under(p_kind, p_name) q));
  RETURN v_got;
END $f$;
