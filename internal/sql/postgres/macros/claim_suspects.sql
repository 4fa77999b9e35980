-- claim_suspects(lanes, begin, end)
-- The claim of due suspects, in a routine: those of one of {lanes} (id, priority), oldest first. A run
-- whose lease expired is a suspect: one of its messages may have ended the worker's process. The column
-- suspect of outbox_ready is how many messages may be claimed together with it, all of them suspects:
-- 1000 at first, and half as many as there were each time such a claim expires too; in outbox_claim it
-- is how many there were. So a message that ends its worker is found in log2(n) claims, and one that was
-- only claimed with it loses no attempt.
FOR v_lane IN SELECT l.id, l.priority FROM {lanes} l ORDER BY l.priority LOOP
  {begin} WITH look AS MATERIALIZED (
    SELECT r.ctid AS tid, r.at, r.lo, r.n, r.suspect FROM pawl.outbox_ready r
     WHERE r.lane = v_lane.id AND r.suspect > 0 AND r.at <= v_now ORDER BY r.at, r.lo LIMIT p_n FOR UPDATE SKIP LOCKED),
  fit AS MATERIALIZED (
    SELECT look.*, sum(look.n) OVER w - look.n AS before, least(p_n, min(look.suspect) OVER w) AS most FROM look WINDOW w AS (ORDER BY look.at, look.lo)),
  cut AS MATERIALIZED (
    SELECT fit.*, least(fit.n, fit.most - fit.before)::integer AS m FROM fit WHERE fit.before < fit.most),
  gone AS (
    DELETE FROM pawl.outbox_ready r WHERE r.ctid = ANY (ARRAY(SELECT cut.tid FROM cut)) RETURNING r.lo, r.retry),
  part AS MATERIALIZED (
    SELECT cut.at, cut.lo, cut.n, cut.m, cut.suspect, gone.retry FROM cut, gone WHERE gone.lo = cut.lo),
  rest AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
    SELECT v_lane.id, part.at, part.lo + part.m, part.n - part.m, part.retry, part.suspect FROM part WHERE part.m < part.n),
  runs AS MATERIALIZED (
    SELECT min(s.at) AS at, min(s.lo) AS lo, sum(s.m)::integer AS n, s.retry
      FROM (SELECT part.at, part.lo, part.m, part.retry, part.lo - (sum(part.m) OVER (PARTITION BY part.retry ORDER BY part.lo) - part.m) AS island FROM part) s
     GROUP BY s.retry, s.island),
  used AS (SELECT 0 AS length),
  held AS (
    INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until, suspect)
    SELECT runs.lo, runs.n, v_lane.id, runs.at, runs.retry, p_owner, v_now + p_lease, (SELECT sum(part.m) FROM part) FROM runs)
  {end}
  EXIT WHEN v_got > 0;
END LOOP;
