-- Report a step by hand: true if this call counted it.
CREATE OR REPLACE FUNCTION pawl.outbox_join_report(join_id uuid, message_id uuid, failed boolean DEFAULT false) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_id('join id', $1), pawl.check_id('message id', $2), pawl.check_null('failed', $3 IS NULL);
  CASE pawl.outbox_join_report_step($1, $2, CASE WHEN $3 THEN 2 ELSE 1 END)
    WHEN 0 THEN RAISE EXCEPTION 'join % not found', $1 USING ERRCODE = 'no_data_found';
    WHEN 1 THEN RETURN true;
    WHEN 2 THEN RETURN false;
    ELSE RAISE EXCEPTION 'message % is not a member of join %', $2, $1 USING ERRCODE = 'no_data_found';
  END CASE;
END $f$;
