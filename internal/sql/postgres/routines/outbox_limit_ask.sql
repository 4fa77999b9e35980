-- Remember which lanes of limits wait for a place that other queues take as well, so that these leave
-- it to them: see outbox_limit_yield. p_room is what a claim had left for more in the end: one that
-- has nothing left waits for none. Nor do the lanes p_yielded, which have left places to others, or
-- two could go on leaving them to each other. A lane that goes on waiting is written once a second.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_ask(p_queue text, p_room integer, p_yielded bigint[], p_now timestamptz) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_lanes bigint[] := ARRAY(
    SELECT l.id FROM pawl.outbox_lane l
     WHERE l.queue = p_queue AND l.kind = 3
       AND CASE WHEN p_room <= 0 OR l.id = ANY (p_yielded) THEN l.asked IS NOT NULL
                WHEN l.asked > p_now - interval '1 second' THEN false
                ELSE EXISTS (SELECT FROM pawl.outbox_lane o WHERE o.topic = l.topic AND o.kind = 3 AND o.queue <> l.queue)
                 AND EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = l.id AND r.at <= p_now AND r.suspect = 0) END);
BEGIN
  IF v_lanes = '{}' THEN
    RETURN; -- a claim that finds nothing writes nothing
  END IF;
  UPDATE pawl.outbox_lane l SET asked = CASE WHEN p_room > 0 AND l.id <> ALL (p_yielded) THEN p_now END
   WHERE l.id = ANY (ARRAY(SELECT w.id FROM pawl.outbox_lane w WHERE w.id = ANY (v_lanes) FOR NO KEY UPDATE SKIP LOCKED));
END $f$;
