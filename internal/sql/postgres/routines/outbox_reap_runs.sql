-- Put up to p_runs runs whose lease has expired back into ready. One of their messages may
-- have ended the worker's process, so they are suspects: see outbox_claim_queue_suspects. Only one
-- that was claimed alone as a suspect has failed an attempt (D-12). Ids whose messages were deleted
-- from the table by hand are left out: nobody settles them, and they would be claimed again and again.
-- p_turn: which 256 blocks of the table are read, and then again from the first; null: all. It is larger while
-- an old snapshot is open, and to read the entries of all that was settled since took a second a call.
CREATE OR REPLACE FUNCTION pawl.outbox_reap_runs(p_runs integer, p_keep integer DEFAULT 5, p_turn bigint DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now      timestamptz := clock_timestamp();
  v_got      bigint;
  v_ids      bigint[];
  v_attempts integer[];
  v_blocks   bigint := greatest(1, pg_relation_size('pawl.outbox_claim') / current_setting('block_size')::bigint);
  v_first    bigint := coalesce(p_turn * 256 % (v_blocks + 255 - (v_blocks + 255) % 256), 0);
  v_begin    tid := format('(%s,0)', v_first)::tid;
  v_end      tid := format('(%s,0)', CASE WHEN p_turn IS NULL THEN 4294967295 ELSE v_first + 256 END)::tid;
BEGIN
  WITH t AS (
    DELETE FROM pawl.outbox_claim c WHERE c.ctid = ANY (ARRAY(
      SELECT x.ctid FROM pawl.outbox_claim x WHERE x.ctid >= v_begin AND x.ctid < v_end AND x.locked_until < v_now LIMIT p_runs FOR UPDATE SKIP LOCKED))
    RETURNING c.lo, c.n, c.lane, c.retry, c.suspect),
  k AS MATERIALIZED (
    SELECT i.lo, i.n, t.lane, t.retry, t.suspect
      FROM t, LATERAL (SELECT u.lo, u.n
                         FROM pawl.outbox_runs(ARRAY(SELECT m.id FROM pawl.outbox_message m WHERE m.id >= t.lo AND m.id < t.lo + t.n)) s, unnest(s.o_lo, s.o_n) u(lo, n)) i),
  b AS MATERIALIZED (
    SELECT i AS id, k.retry + 1 AS retry FROM k, generate_series(k.lo, k.lo + k.n - 1) i WHERE k.suspect = 1),
  e AS (
    INSERT INTO pawl.outbox_exception AS e (id, status, retry_count, next_attempt_at, last_error, updated_at)
    SELECT b.id, 0, b.retry, v_now, 'lease expired', v_now FROM b ORDER BY b.id
    ON CONFLICT (id) DO UPDATE SET status = 0, retry_count = excluded.retry_count, next_attempt_at = excluded.next_attempt_at,
      last_error = excluded.last_error, fingerprint = NULL, updated_at = excluded.updated_at),
  q AS (
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry, suspect)
    SELECT k.lane, v_now, k.lo, k.n, k.retry + (k.suspect = 1)::integer, CASE k.suspect WHEN 0 THEN 1000 ELSE (k.suspect + 1) / 2 END FROM k)
  SELECT (SELECT coalesce(sum(t.n), 0) FROM t), array_agg(b.id), array_agg(b.retry) INTO v_got, v_ids, v_attempts FROM b;
  IF v_ids IS NOT NULL THEN
    PERFORM pawl.outbox_attempted(v_ids, v_attempts, array_fill('lease expired'::text, ARRAY[cardinality(v_ids)]), NULL, p_keep);
  END IF;
  RETURN v_got;
END $f$;
