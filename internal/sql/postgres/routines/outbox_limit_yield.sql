-- Leave the places under a topic's limit to another queue whose oldest message comes first, and wake
-- its workers: whoever frees a place would always take it again. The order is that of claims: what
-- has waited for longer than p_wait, by age, then by priority and age. It is left to a queue that has
-- asked for it a short while ago, or while the rate allowed none; p_at is when the oldest of the lane
-- p_lane was due.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_yield(p_queue text, p_topic text, p_lane bigint, p_priority smallint, p_at timestamptz, p_wait interval, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_late  timestamptz := coalesce(p_now - p_wait, '-infinity');
  v_queue text;
BEGIN
  SELECT o.queue INTO v_queue
    FROM pawl.outbox_lane o
    CROSS JOIN LATERAL (SELECT r.at FROM pawl.outbox_ready r WHERE r.lane = o.id AND r.at <= p_now AND r.suspect = 0 ORDER BY r.at LIMIT 1) head
   WHERE o.topic = p_topic AND o.kind = 3 AND o.queue <> p_queue
     AND (o.asked > p_now - interval '3 seconds'
       OR EXISTS (SELECT FROM pawl.outbox_limit f WHERE f.kind = 'topic' AND f.name = p_topic AND f.rate IS NOT NULL AND p_now < f.next_at + interval '3 seconds'
                     AND o.asked > f.next_at - f.period * (f.burst::float8 / f.rate) - interval '3 seconds'))
     AND (head.at >= v_late, CASE WHEN head.at < v_late THEN 0 ELSE o.priority END, head.at, o.id)
       < (p_at >= v_late, CASE WHEN p_at < v_late THEN 0 ELSE p_priority END, p_at, p_lane)
     AND NOT pawl.paused(o.queue)
   LIMIT 1;
  IF v_queue IS NULL THEN
    RETURN false;
  END IF;
  PERFORM pawl.wake(v_queue);
  RETURN true;
END $f$;
