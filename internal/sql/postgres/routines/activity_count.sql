-- Count what becomes of messages that a program claimed itself, as far as it holds them: before they are
-- settled, in the same transaction. Extending their leases locks them as that does, and makes them runs
-- of their own. p_outcome: the column, p_print: what the error has in common with others.
-- A row belongs to a session until its transaction ends, so that nobody waits. Its number is the lowest
-- that no other session has: there are as many as settle at once, however many connect. Where the row
-- of another one would not be seen it is the server process's. Topics beyond the first 200 of a minute
-- have none: the row without a topic says that these are reached.
CREATE OR REPLACE FUNCTION pawl.activity_count(p_owner uuid[], p_lo bigint[], p_n integer[], p_outcome text, p_print text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_minute bigint := pawl.minute(clock_timestamp());
  v_nr     bigint := 1;
  v_worker uuid;
  v_got    bigint := pawl.outbox_extend_runs(p_owner, p_lo, p_n, interval '1 minute');
BEGIN
  IF v_got = 0 THEN
    RETURN 0;
  END IF;
  IF current_setting('transaction_isolation') NOT LIKE 'read %' THEN
    v_nr := pg_backend_pid() + 1000000000::bigint;
  ELSE
    WHILE NOT pg_try_advisory_xact_lock(pawl.lock_key('pawl.activity/' || v_nr)) LOOP
      v_nr := v_nr + 1;
    END LOOP;
  END IF;
  v_worker := lpad(to_hex(v_nr), 32, '0')::uuid;
  WITH message AS MATERIALIZED (
    SELECT m.lane, m.topic, m.minute, count(*) AS n
      FROM unnest(p_owner, p_lo, p_n) r(owner, lo, n)
     CROSS JOIN LATERAL (SELECT x.lo, x.n FROM pawl.outbox_claim x WHERE x.lo >= r.lo AND x.lo < r.lo + r.n AND x.owner = r.owner OFFSET 0) c
     CROSS JOIN LATERAL (SELECT x.lane, x.topic, pawl.minute(x.created_at) AS minute FROM pawl.outbox_message x WHERE x.id >= c.lo AND x.id < c.lo + c.n OFFSET 0) m
     GROUP BY m.lane, m.topic, m.minute),
  named AS MATERIALIZED (
    SELECT k.*, dense_rank() OVER (PARTITION BY k.known ORDER BY k.queue, k.topic) AS nr FROM (
      SELECT m.queue, m.topic, m.minute, m.n,
             EXISTS (SELECT FROM pawl.activity a WHERE a.grain = 1 AND a.minute = v_minute AND a.queue = m.queue AND a.topic = m.topic AND a.worker = v_worker) AS known
        FROM (SELECT coalesce((SELECT l.queue FROM pawl.outbox_lane l WHERE l.id = x.lane), '') AS queue, x.topic, x.minute, x.n FROM message x) m) k),
  room AS MATERIALIZED (
    SELECT CASE WHEN bool_and(k.known) OR EXISTS (SELECT FROM pawl.activity a WHERE a.grain = 1 AND a.minute = v_minute AND a.queue = '' AND a.topic = '' AND a.worker = v_worker) THEN 0
                ELSE 200 - (SELECT count(*) FROM pawl.activity a WHERE a.grain = 1 AND a.minute = v_minute AND a.worker = v_worker) END AS n FROM named k),
  cell AS (
    SELECT CASE WHEN x.own THEN x.queue ELSE '' END AS queue, CASE WHEN x.own THEN x.topic ELSE '' END AS topic, x.minute, sum(x.n)::bigint AS n
      FROM (SELECT k.*, k.known OR k.nr <= (SELECT room.n FROM room) AS own FROM named k) x GROUP BY 1, 2, 3)
  INSERT INTO pawl.activity AS a (grain, minute, queue, topic, worker, done, retried, failed, expired, unhandled, waits, takes, created, errors)
  SELECT 1, v_minute, s.queue, s.topic, v_worker, CASE p_outcome WHEN 'done' THEN s.n ELSE 0 END, CASE p_outcome WHEN 'retried' THEN s.n ELSE 0 END,
         CASE p_outcome WHEN 'failed' THEN s.n ELSE 0 END, CASE p_outcome WHEN 'expired' THEN s.n ELSE 0 END, 0, '[]', '[]',
         CASE p_outcome WHEN 'retried' THEN '[]' ELSE s.created::text END, CASE WHEN p_print IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_array(p_print, s.n))::text END
    FROM (SELECT c.queue, c.topic, sum(c.n)::bigint AS n, jsonb_agg(jsonb_build_array(c.minute, c.n)) AS created FROM cell c GROUP BY c.queue, c.topic) s ORDER BY s.queue, s.topic
  ON CONFLICT (grain, minute, queue, topic, worker) DO UPDATE SET done = a.done + excluded.done, retried = a.retried + excluded.retried, failed = a.failed + excluded.failed,
    expired = a.expired + excluded.expired, created = CASE excluded.created WHEN '[]' THEN a.created ELSE pawl.pairs(a.created, excluded.created, NULL) END,
    errors = CASE excluded.errors WHEN '[]' THEN a.errors ELSE pawl.pairs(a.errors, excluded.errors, 5) END;
  RETURN v_got;
END $f$;
