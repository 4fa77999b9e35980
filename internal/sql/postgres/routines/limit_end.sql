-- End the limit of a topic, each topic of a pattern, or a queue. Returns 1, or 0 if there is none. A
-- topic that a pattern holds for is under that limit then, with what is claimed of it.
CREATE OR REPLACE FUNCTION pawl.limit_end(p_kind text, p_name text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_got bigint;
BEGIN
  LOCK TABLE pawl.outbox_limit IN EXCLUSIVE MODE; -- see outbox_limits_share
  DELETE FROM pawl.outbox_limit l WHERE l.kind = p_kind AND l.name = p_name AND l.pattern = '';
  GET DIAGNOSTICS v_got = ROW_COUNT;
  IF v_got > 0 THEN
    DELETE FROM pawl.outbox_limit l WHERE p_kind = 'each' AND l.pattern = p_name;
    DELETE FROM pawl.outbox_limit_claim u
     WHERE CASE p_kind WHEN 'each' THEN u.kind = 'topic' AND pawl.falls_under(p_name, u.name) AND NOT EXISTS (SELECT FROM pawl.outbox_limit l WHERE l.kind = 'topic' AND l.name = u.name)
                       ELSE u.kind = p_kind AND u.name = p_name END;
    PERFORM pawl.outbox_limit_hold(l.kind, l.name) FROM pawl.outbox_limit l WHERE l.kind = 'each' AND l.concurrency IS NOT NULL AND p_kind <> 'queue';
  END IF;
  PERFORM pawl.outbox_wake(ARRAY(SELECT q.queue FROM pawl.queues_under(p_kind, p_name) q));
  RETURN v_got;
END $f$;
