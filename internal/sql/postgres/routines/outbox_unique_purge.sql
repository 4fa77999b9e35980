-- Delete the keys of messages that were deleted, runs p_lo with p_n, except where a period is under
-- way: those are marked, and deleted when it is over, p_look of them in a call. A key that an
-- enqueue holds at the moment is left to that: it takes it for its own message.
CREATE OR REPLACE FUNCTION pawl.outbox_unique_purge(p_lo bigint[], p_n integer[], p_look bigint) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_now  timestamptz := clock_timestamp();
  v_keys text[];
BEGIN
  IF NOT EXISTS (SELECT FROM pawl.outbox_unique) THEN
    RETURN;
  END IF;
  v_keys := ARRAY(
    SELECT u.key FROM unnest(p_lo, p_n) g(lo, n) JOIN pawl.outbox_unique u ON u.id >= g.lo AND u.id < g.lo + g.n FOR UPDATE OF u SKIP LOCKED);
  DELETE FROM pawl.outbox_unique u WHERE u.key = ANY (v_keys) AND (u.until IS NULL OR u.until <= v_now);
  UPDATE pawl.outbox_unique u SET id = 0 WHERE u.key = ANY (v_keys);
  DELETE FROM pawl.outbox_unique u WHERE u.key = ANY (ARRAY(
    SELECT x.key FROM pawl.outbox_unique x WHERE x.id = 0 AND x.until <= v_now ORDER BY x.until LIMIT p_look FOR UPDATE SKIP LOCKED));
END $f$;
