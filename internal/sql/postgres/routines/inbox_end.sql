-- Record failed attempts at messages of the inbox: each is put back with its message, or
-- given up with it. Returns how many of them p_owner held.
CREATE OR REPLACE FUNCTION pawl.inbox_end(p_owner uuid, p_ids bigint[], p_error text, p_delay interval, p_final boolean, p_max integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_key  record;
  v_back bigint[] := '{}';
  v_over bigint[] := '{}';
BEGIN
  PERFORM pawl.check_id('owner token', p_owner);
  FOR v_key IN SELECT k.* FROM pawl.inbox_lock(p_ids) k LOOP
    CASE pawl.inbox_fail_row(v_key.source, v_key.message, v_key.hash, p_owner, p_error, p_final, p_max)
      WHEN 1 THEN v_back := v_back || v_key.id;
      WHEN 2 THEN v_over := v_over || v_key.id;
      ELSE CONTINUE;
    END CASE;
  END LOOP;
  PERFORM pawl.outbox_abandon(p_owner, v_back, p_error, p_delay);
  PERFORM pawl.outbox_fail(p_owner, v_over, p_error);
  RETURN cardinality(v_back) + cardinality(v_over);
END $f$;
