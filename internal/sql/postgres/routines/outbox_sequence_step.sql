-- A step of outbox_sequence: of what is ready in lane p_ordered from p_low to p_high, put the first p_most
-- messages in order, of those with one time the first p_each. o_full: there may be more; then o_at is
-- the time of the last one, and o_alone whether all have that time. o_left: messages that stay
-- where they are, because somebody holds one of their keys. A message without an ordering key, and with a fair
-- one, was due later: it goes where the others of its key take turns.
-- No two lists are joined: each row carries what is known of it along, and what is known of a key is
-- passed on by window functions. Statistics do not matter: a plan reads each message once, and a step of
-- 4 000 messages does not read 16 million rows.
CREATE OR REPLACE FUNCTION pawl.outbox_sequence_step(p_ordered bigint, p_ready bigint, p_waiting bigint, p_low timestamptz, p_high timestamptz, p_most integer, p_each integer,
  OUT o_heads integer, OUT o_moved integer, OUT o_left integer, OUT o_full boolean, OUT o_at timestamptz, OUT o_alone boolean) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_gone integer;
  v_runs integer;
BEGIN
  WITH look AS MATERIALIZED (
    SELECT r.ctid AS tid, r.at, r.lo, r.n FROM pawl.outbox_ready r
     WHERE r.lane = p_ordered AND r.at >= p_low AND r.at <= p_high ORDER BY r.at, r.lo LIMIT p_most),
  each AS (
    SELECT look.*, least(look.n, p_each - (sum(look.n) OVER (PARTITION BY look.at ORDER BY look.lo) - look.n))::integer AS m FROM look),
  part AS MATERIALIZED (
    SELECT s.tid, s.at, s.lo, s.n, least(s.m, p_most - s.before)::integer AS m
      FROM (SELECT each.*, sum(each.m) OVER (ORDER BY each.at, each.lo) - each.m AS before FROM each WHERE each.m > 0) s WHERE s.before < p_most),
  msg AS MATERIALIZED (
    SELECT part.at, part.lo, part.n, part.m, held.tid, held.retry, held.suspect, m.id, m.created_at, k.key,
           CASE WHEN k.key IS NULL AND part.at > 'epoch' AND held.suspect = 0 THEN pawl.outbox_group_at(m.headers) END AS turn
      FROM part
      LEFT JOIN LATERAL (SELECT r.ctid AS tid, r.retry, r.suspect FROM pawl.outbox_ready r WHERE r.ctid = part.tid AND r.lane = p_ordered FOR UPDATE SKIP LOCKED) held ON true
     CROSS JOIN LATERAL (SELECT x.id, x.created_at, x.headers FROM pawl.outbox_message x WHERE x.id >= part.lo AND x.id < part.lo + part.m OFFSET 0) m
     CROSS JOIN LATERAL (SELECT pawl.outbox_ordering_key(m.headers) AS key OFFSET 0) k),
  line AS MATERIALIZED (
    SELECT msg.*, row_number() OVER (PARTITION BY msg.key ORDER BY msg.id) AS nr, msg.key IS NOT NULL AND bool_or(msg.tid IS NULL) OVER (PARTITION BY msg.key) AS kept FROM msg),
  head AS MATERIALIZED ( -- looked up for the first of each key
    SELECT line.*, h.id AS head, h.id IS NOT NULL AND free.id IS NULL AS held, o.id IS NOT NULL AS known
      FROM line
      LEFT JOIN LATERAL (SELECT x.id FROM pawl.outbox_order x WHERE line.nr = 1 AND NOT line.kept AND x.lane = p_ordered AND x.key = line.key AND x.head LIMIT 1) h ON true
      LEFT JOIN LATERAL (SELECT x.id FROM pawl.outbox_order x WHERE x.id = h.id AND x.head FOR UPDATE SKIP LOCKED) free ON true
      LEFT JOIN LATERAL (SELECT x.id FROM pawl.outbox_order x WHERE x.id = line.id LIMIT 1) o ON true),
  good AS MATERIALIZED (
    SELECT s.*, s.good AND (s.key IS NULL OR s.first IS NULL AND s.nr = 1 OR s.first = s.id) IS TRUE AS leads,
           bool_or(s.good) OVER (PARTITION BY s.lo) AS taken, row_number() OVER (PARTITION BY s.lo ORDER BY s.id) AS nth
      FROM (SELECT head.*, max(head.head) OVER (PARTITION BY head.key) AS first,
                   head.tid IS NOT NULL AND NOT head.kept AND (head.key IS NULL OR NOT bool_or(head.held) OVER (PARTITION BY head.key)) AS good FROM head) s),
  gone AS (
    DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT good.tid FROM good WHERE good.taken AND good.nth = 1)) RETURNING 1),
  ready AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
    SELECT CASE WHEN NOT good.good OR good.turn IS NOT NULL THEN p_ordered WHEN good.leads THEN p_ready ELSE p_waiting END,
           CASE WHEN good.good AND good.turn IS NOT NULL THEN good.turn WHEN good.good AND good.at <= 'epoch' THEN good.created_at ELSE good.at END, good.id, 1, good.retry, good.suspect FROM good WHERE good.taken
    UNION ALL
    SELECT p_ordered, good.at, good.lo + good.m, good.n - good.m, good.retry, good.suspect FROM good WHERE good.taken AND good.nth = 1 AND good.m < good.n),
  known AS (
    INSERT INTO pawl.outbox_order (id, lane, key, head) SELECT good.id, p_ordered, good.key, good.leads FROM good WHERE good.good AND good.key IS NOT NULL AND NOT good.known)
  SELECT count(*) FILTER (WHERE good.leads AND good.turn IS NULL), count(*) FILTER (WHERE good.good), count(*) FILTER (WHERE NOT good.good), count(*) FILTER (WHERE good.taken AND good.nth = 1),
         (SELECT count(*) FROM gone), (SELECT count(*) FROM look) >= p_most OR (SELECT sum(part.m) FROM part) >= p_most, (SELECT max(part.at) FROM part), (SELECT min(part.at) = max(part.at) FROM part)
    INTO o_heads, o_moved, o_left, v_runs, v_gone, o_full, o_at, o_alone FROM good;
  IF v_gone <> v_runs THEN
    RAISE EXCEPTION 'a message with an ordering key moved while it was locked' USING ERRCODE = 'serialization_failure';
  END IF;
END $f$;
