-- Cancel a join: true if this call ended it.
CREATE OR REPLACE FUNCTION pawl.outbox_join_cancel(join_id uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_id('join id', $1);
  CASE pawl.act_join_cancel($1, NULL, current_user::text, 'join ' || $1, NULL)
    WHEN 0 THEN RAISE EXCEPTION 'join % not found', $1 USING ERRCODE = 'no_data_found';
    WHEN 1 THEN RETURN true;
    ELSE RETURN false;
  END CASE;
END $f$;
