-- Park claimed runs whose topic is paused; others go back to ready, as if released. A pause
-- that ends meanwhile waits for this transaction (the shared lock): nothing stays parked.
CREATE OR REPLACE FUNCTION pawl.outbox_park_runs(p_owner uuid[], p_lo bigint[], p_n integer[], p_topic text[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off AS $f$
DECLARE
  v_topic text[] := '{}';
  v_lane  bigint[] := '{}';
  v_pause record;
  v_got   bigint;
BEGIN
  FOR v_pause IN SELECT p.name, p.lane FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND (p.name IN (SELECT t FROM unnest(p_topic) t)) IS TRUE AND NOT p.ending ORDER BY p.name FOR SHARE LOOP
    v_topic := v_topic || v_pause.name;
    v_lane := v_lane || v_pause.lane;
  END LOOP;
  WITH t AS MATERIALIZED (
    SELECT x.lo, x.n, coalesce(v_lane[array_position(v_topic, r.topic)], x.lane) AS lane, x.at, x.retry, x.suspect
      FROM unnest(p_owner, p_lo, p_n, p_topic) r(owner, lo, n, topic), LATERAL pawl.outbox_take(r.owner, r.lo, r.n) x),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect) SELECT t.lane, t.at, t.lo, t.n, t.retry, t.suspect FROM t)
  SELECT coalesce(sum(t.n), 0) INTO v_got FROM t;
  RETURN v_got;
END $f$;
