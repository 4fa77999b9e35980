-- Give a topic a row of its own under the limit for each topic of the longest pattern that it begins
-- as, if there is such a limit. SECURITY DEFINER: a worker claims under limits, and may not set any.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_topic(p_topic text) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  INSERT INTO pawl.outbox_limit (kind, name, concurrency, rate, period, burst, at, actor, reason, pattern)
  SELECT 'topic', p_topic, e.concurrency, e.rate, e.period, e.burst, e.at, e.actor, e.reason, e.name
    FROM pawl.outbox_limit e WHERE e.kind = 'each' AND pawl.falls_under(e.name, p_topic) ORDER BY length(e.name) DESC LIMIT 1
  ON CONFLICT DO NOTHING;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_limit_topic FROM PUBLIC;
