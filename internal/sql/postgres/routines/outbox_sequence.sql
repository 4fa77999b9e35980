-- Put enqueued messages with ordering keys in order. The first of a key that has no head
-- becomes its head, and may be claimed; the others wait for it (outbox_order_release). Positions
-- come from one sequence while messages are written, and a message that is visible here is so
-- with all that were committed before it was written: in order of position is in order of
-- commits, where transactions follow each other. It takes several steps, each of which sees what
-- was committed before it. So each begins with the first position: one that went on behind the step before
-- could see the second message of a transaction, and have missed the first, where another's message lies
-- between the two. Nothing waits for a lock: a key of which a message or the head is locked is left
-- for one of the next claims, whole. It ends when p_n heads were found: a claim takes no more.
-- Hash joins are for what a step has read; what it looks up in tables has limits, or is by ctid.
CREATE OR REPLACE FUNCTION pawl.outbox_sequence(p_queue text, p_n integer) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now     timestamptz := clock_timestamp();
  v_ordered bigint;
  v_ready   bigint;
  v_waiting bigint;
  v_size    integer := 500; -- of a step, in messages
  v_left    integer := 0;   -- messages that a step left where they are
  v_seen    integer;
  v_end_at  timestamptz;
  v_end_lo  bigint;
  v_heads   integer := 0;
BEGIN
  SELECT l.id INTO v_ordered FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 1 AND l.priority = 0;
  IF v_ordered IS NULL OR NOT EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_ordered AND r.at <= v_now) THEN
    RETURN;
  END IF;
  v_ready := pawl.outbox_lane_id(p_queue, 0::smallint);
  v_waiting := pawl.outbox_lane_id(p_queue, 0::smallint, 2::smallint);
  FOR v_step IN 1 .. 4 LOOP -- bounds how long a claim may take
    SELECT max(s.at), (array_agg(s.lo ORDER BY s.at DESC, s.lo DESC))[1] INTO v_end_at, v_end_lo
      FROM (SELECT look.at, look.lo, sum(look.n) OVER (ORDER BY look.at, look.lo) - look.n AS before
              FROM (SELECT r.at, r.lo, r.n FROM pawl.outbox_ready r
                     WHERE r.lane = v_ordered AND r.at <= v_now ORDER BY r.at, r.lo LIMIT v_size + v_left) look) s
     WHERE s.before < v_size + v_left;
    EXIT WHEN v_end_lo IS NULL;
    WITH look AS MATERIALIZED (
      SELECT r.ctid AS tid, r.lo, r.n FROM pawl.outbox_ready r
       WHERE r.lane = v_ordered AND (r.at, r.lo) <= (v_end_at, v_end_lo)),
    locked AS MATERIALIZED (
      SELECT r.ctid AS tid, r.lo FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT look.tid FROM look)) FOR UPDATE SKIP LOCKED),
    msg AS MATERIALIZED (
      SELECT m.id, m.created_at, pawl.outbox_ordering_key(m.headers) AS key, look.lo, locked.tid
        FROM look LEFT JOIN locked ON locked.lo = look.lo, LATERAL (SELECT x.* FROM pawl.outbox_message x WHERE x.id >= look.lo AND x.id < look.lo + look.n) m),
    head AS MATERIALIZED (
      SELECT o.id, o.key FROM (SELECT DISTINCT msg.key FROM msg) k, -- the limit has each key looked up, also by a plan that was made when there were few
             LATERAL (SELECT x.id, x.key FROM pawl.outbox_order x WHERE x.lane = v_ordered AND x.key = k.key AND x.head LIMIT 1) o),
    free AS MATERIALIZED (
      SELECT o.id FROM pawl.outbox_order o WHERE o.id = ANY (ARRAY(SELECT head.id FROM head)) AND o.head FOR UPDATE SKIP LOCKED),
    kept AS MATERIALIZED (
      SELECT msg.key FROM msg WHERE msg.tid IS NULL
      UNION SELECT head.key FROM head WHERE NOT EXISTS (SELECT FROM free WHERE free.id = head.id)),
    good AS MATERIALIZED (
      SELECT s.id, s.key, s.created_at, s.lo, s.tid, s.known,
             coalesce(s.key IS NULL OR s.head IS NULL AND s.nr = 1 OR s.head = s.id, false) AS head
        FROM (SELECT msg.*, h.id AS head, o.id IS NOT NULL AS known, row_number() OVER (PARTITION BY msg.key ORDER BY msg.id) AS nr
                FROM msg LEFT JOIN head h ON h.key = msg.key LEFT JOIN LATERAL (SELECT x.id FROM pawl.outbox_order x WHERE x.id = msg.id LIMIT 1) o ON true
               WHERE msg.key IS NULL OR NOT EXISTS (SELECT FROM kept WHERE kept.key = msg.key)) s
       WHERE s.tid IS NOT NULL),
    taken AS (
      DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT DISTINCT good.tid FROM good)) RETURNING r.at, r.lo, r.n, r.retry, r.suspect),
    place AS MATERIALIZED (
      SELECT msg.id, good.id IS NULL AS back, coalesce(good.head, false) AS head,
             CASE WHEN taken.at = 'epoch' AND good.id IS NOT NULL THEN msg.created_at ELSE taken.at END AS at, taken.retry, taken.suspect
        FROM taken JOIN msg ON msg.lo = taken.lo LEFT JOIN good ON good.id = msg.id),
    ready AS (
      INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
      SELECT CASE WHEN place.back THEN v_ordered WHEN place.head THEN v_ready ELSE v_waiting END, place.at, place.id, 1, place.retry, place.suspect FROM place),
    known AS (
      INSERT INTO pawl.outbox_order (id, lane, key, head) SELECT good.id, v_ordered, good.key, good.head FROM good WHERE good.key IS NOT NULL AND NOT good.known)
    SELECT v_heads + count(*) FILTER (WHERE good.head), (SELECT count(*) FROM msg), (SELECT count(*) FROM msg) - count(*) FROM good INTO v_heads, v_seen, v_left;
    EXIT WHEN v_heads >= p_n OR v_seen < v_size;
    v_size := 2 * v_size;
  END LOOP;
END $f$;
