-- Move messages that p_owner has claimed to the lane of their topic's limit, or where p_topic is null back to
-- where they were.
CREATE OR REPLACE FUNCTION pawl.outbox_divert(p_queue text, p_owner uuid, p_ids bigint[], p_topic text) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
BEGIN
  WITH away AS MATERIALIZED (
    SELECT min(s.id) AS lo, count(*)::integer AS n
      FROM (SELECT u.id, u.id - row_number() OVER (ORDER BY u.id) AS island FROM unnest(p_ids) u(id)) s GROUP BY s.island),
  taken AS MATERIALIZED ( -- and no other table: it could be joined first, and each row of it would take anew
    SELECT t.* FROM away, LATERAL pawl.outbox_take(p_owner, away.lo, away.n) t),
  lane AS MATERIALIZED (
    SELECT s.lane, CASE WHEN p_topic IS NULL THEN s.lane ELSE pawl.outbox_limit_lane(p_queue, l.priority, p_topic) END AS id
      FROM (SELECT DISTINCT taken.lane FROM taken) s JOIN pawl.outbox_lane l ON l.id = s.lane)
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
  SELECT lane.id, taken.at, taken.lo, taken.n, taken.retry, taken.suspect FROM taken JOIN lane ON lane.lane = taken.lane;
END $f$;
