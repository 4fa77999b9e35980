-- Cancel messages that are not claimed: they count as discarded, and as failed steps of their
-- joins. Returns how many.
CREATE OR REPLACE FUNCTION pawl.outbox_cancel(p_ids bigint[], p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off AS $f$
DECLARE
  v_ids bigint[];
BEGIN
  PERFORM pawl.check_isolation('cancel');
  PERFORM FROM pawl.outbox_order o WHERE o.id = ANY (p_ids) ORDER BY o.id FOR UPDATE; -- before the runs, as outbox_order_release
  v_ids := ARRAY(SELECT w.lo FROM pawl.outbox_withdraw(p_ids, false) w);
  INSERT INTO pawl.outbox_exception AS e (id, status, last_error, updated_at) SELECT i, 4, p_reason, clock_timestamp() FROM unnest(v_ids) i
  ON CONFLICT (id) DO UPDATE SET status = 4, next_attempt_at = NULL, last_error = excluded.last_error, fingerprint = NULL, updated_at = excluded.updated_at;
  PERFORM pawl.outbox_order_release(s.o_lo, s.o_n), pawl.outbox_join_settle(s.o_lo, s.o_n) FROM pawl.outbox_runs(v_ids) s;
  RETURN cardinality(v_ids);
END $f$;
