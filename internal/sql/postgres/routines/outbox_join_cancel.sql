-- Cancel a join: true if this call ended it.
CREATE OR REPLACE FUNCTION pawl.outbox_join_cancel(join_id uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_id('join id', $1);
  CASE pawl.outbox_join_end($1, 3)
    WHEN 0 THEN RAISE EXCEPTION 'join % not found', $1 USING ERRCODE = 'no_data_found';
    WHEN 1 THEN RETURN pawl.audit_own('cancel', 'join ' || $1, true);
    ELSE RETURN false;
  END CASE;
END $f$;
