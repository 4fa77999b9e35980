-- Make a message a member of a join. One that is settled counts at once.
CREATE OR REPLACE FUNCTION pawl.outbox_join_attach(join_id uuid, message_id uuid) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_id('join id', $1), pawl.check_id('message id', $2);
  CASE pawl.outbox_join_attach_all($1, ARRAY[$2])
    WHEN 0 THEN RETURN;
    WHEN 1 THEN RAISE EXCEPTION 'join % not found', $1 USING ERRCODE = 'no_data_found';
    WHEN 3 THEN RAISE EXCEPTION 'message % is a wait of join %', $2, $1 USING ERRCODE = 'invalid_parameter_value';
    ELSE RAISE EXCEPTION 'message % not found', $2 USING ERRCODE = 'no_data_found';
  END CASE;
END $f$;
