-- Cancel the pending timer of a key: true means that it will never fire.
CREATE OR REPLACE FUNCTION pawl.timer_cancel_key(key text) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_text('key', $1, 255, true);
  RETURN pawl.audit_own('cancel', 'timer with key ' || $1, pawl.timer_cancel_row($1) = 1);
END $f$;
