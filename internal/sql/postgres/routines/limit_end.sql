-- End the limit of a topic or queue. Returns 1, or 0 if there is none.
CREATE OR REPLACE FUNCTION pawl.limit_end(p_kind text, p_name text) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_got bigint;
BEGIN
  WITH gone AS (
    DELETE FROM pawl.outbox_limit l WHERE l.kind = p_kind AND l.name = p_name RETURNING 1),
  held AS (
    DELETE FROM pawl.outbox_limit_claim u WHERE u.kind = p_kind AND u.name = p_name)
  SELECT count(*) INTO v_got FROM gone;
  PERFORM pawl.outbox_wake(ARRAY(SELECT q.queue FROM pawl.queues_under(p_kind, p_name) q));
  RETURN v_got;
END $f$;
