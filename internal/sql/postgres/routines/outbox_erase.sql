-- Erase what messages say, their errors, results and steps included: those that wait are cancelled and those
-- that failed discarded, for good; those that are claimed are left alone. Returns how many were erased.
CREATE OR REPLACE FUNCTION pawl.outbox_erase(p_ids bigint[], p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_ids bigint[];
BEGIN
  PERFORM FROM pawl.outbox_unique u WHERE u.id = ANY (p_ids) ORDER BY u.key FOR UPDATE; -- before the runs, as an enqueue
  PERFORM pawl.outbox_cancel(p_ids, p_reason);
  PERFORM pawl.outbox_discard(p_ids);
  v_ids := ARRAY(SELECT x.i FROM (SELECT DISTINCT i FROM unnest(p_ids) i) x WHERE pawl.settled(x.i) ORDER BY x.i);
  UPDATE pawl.outbox_exception e SET last_error = p_reason, fingerprint = NULL, failed_at = NULL WHERE e.id = ANY (v_ids);
  DELETE FROM pawl.outbox_attempt a WHERE a.id = ANY (v_ids);
  DELETE FROM pawl.outbox_result r WHERE r.id = ANY (v_ids);
  DELETE FROM pawl.outbox_join_result r USING pawl.outbox_join_member m WHERE m.id = ANY (v_ids) AND r.join_id = m.join_id AND r.id = m.id;
  DELETE FROM pawl.flow_step s WHERE s.id = ANY (v_ids);
  DELETE FROM pawl.flow_signal s WHERE s.id = ANY (v_ids);
  DELETE FROM pawl.flow_wait w WHERE w.id = ANY (v_ids);
  UPDATE pawl.outbox_message m SET payload = '', headers = NULL, correlation_id = NULL WHERE m.id = ANY (v_ids);
  DELETE FROM pawl.outbox_unique u WHERE u.id = ANY (v_ids);
  RETURN cardinality(v_ids);
END $f$;
