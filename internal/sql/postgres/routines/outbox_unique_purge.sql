-- Delete the keys of messages that were deleted, runs p_lo with p_n, except where a period is under
-- way: those are marked, and deleted when it is over, p_look of them in a call. A key that an
-- enqueue holds at the moment is left to that: it takes it for its own message.
CREATE OR REPLACE FUNCTION pawl.outbox_unique_purge(p_lo bigint[], p_n integer[], p_look bigint) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_now  timestamptz := clock_timestamp();
  v_tids tid[];
BEGIN
  IF NOT EXISTS (SELECT FROM pawl.outbox_unique) THEN
    RETURN;
  END IF;
  v_tids := ARRAY(
    SELECT u.tid FROM unnest(p_lo, p_n) g(lo, n), LATERAL (
      SELECT x.ctid AS tid FROM pawl.outbox_unique x WHERE x.id >= g.lo AND x.id < g.lo + g.n FOR UPDATE SKIP LOCKED) u);
  PERFORM pawl.outbox_unique_free(v_tids, v_now);
  DELETE FROM pawl.outbox_unique u WHERE u.ctid = ANY (ARRAY(
    SELECT x.ctid FROM pawl.outbox_unique x WHERE x.id = 0 AND x.until <= v_now ORDER BY x.until LIMIT p_look FOR UPDATE SKIP LOCKED));
END $f$;
