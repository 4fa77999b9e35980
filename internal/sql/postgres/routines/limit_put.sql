-- Limit a topic or queue. Returns 1, or 0 if it is limited so already. What is claimed already
-- counts from now on.
CREATE OR REPLACE FUNCTION pawl.limit_put(p_kind text, p_name text, p_concurrency integer, p_rate integer, p_period interval, p_burst integer, p_actor text, p_reason text)
RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_got bigint;
BEGIN
  WITH put AS (
    INSERT INTO pawl.outbox_limit AS l (kind, name, concurrency, rate, period, burst, actor, reason)
    VALUES (p_kind, p_name, p_concurrency, p_rate, p_period, p_burst, p_actor, p_reason)
    ON CONFLICT (kind, name) DO UPDATE SET concurrency = excluded.concurrency, rate = excluded.rate, period = excluded.period, burst = excluded.burst,
      at = excluded.at, actor = excluded.actor, reason = excluded.reason, next_at = '-infinity'
    WHERE (l.concurrency, l.rate, l.period, l.burst) IS DISTINCT FROM (excluded.concurrency, excluded.rate, excluded.period, excluded.burst) RETURNING 1),
  held AS (
    INSERT INTO pawl.outbox_limit_claim (kind, name, id)
    SELECT p_kind, p_name, m.id FROM pawl.outbox_claim c JOIN pawl.outbox_lane q ON q.id = c.lane JOIN pawl.outbox_message m ON m.id >= c.lo AND m.id < c.lo + c.n
     WHERE p_concurrency IS NOT NULL AND CASE p_kind WHEN 'topic' THEN m.topic = p_name ELSE q.queue = p_name END
    ON CONFLICT DO NOTHING)
  SELECT count(*) INTO v_got FROM put;
  PERFORM pawl.outbox_wake(ARRAY(SELECT q.queue FROM pawl.queues_under(p_kind, p_name) q));
  RETURN v_got;
END $f$;
