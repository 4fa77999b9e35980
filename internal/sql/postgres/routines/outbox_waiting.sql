-- How many messages of a queue are due and not claimed, p_most or more counted as far as the runs go that
-- were read for it. The newest come first: below them are the entries of those that were claimed. Producers,
-- who cannot read the queue, learn this number alone.
CREATE OR REPLACE FUNCTION pawl.outbox_waiting(p_queue text, p_most bigint) RETURNS bigint LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
BEGIN
  RETURN (SELECT coalesce(sum(x.n), 0) FROM (
    SELECT r.n FROM pawl.outbox_lane l, LATERAL (
      SELECT y.n FROM pawl.outbox_ready y WHERE y.lane = l.id AND y.at <= clock_timestamp() ORDER BY y.lane DESC, y.at DESC, y.lo DESC LIMIT p_most) r
     WHERE l.queue = p_queue LIMIT p_most) x);
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_waiting FROM PUBLIC;
