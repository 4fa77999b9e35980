-- Cancel a timer: true means that it will never fire.
CREATE OR REPLACE FUNCTION pawl.timer_cancel(timer_id uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  UPDATE pawl.timer t SET status = 4, processed_at = clock_timestamp() WHERE t.id = (SELECT pawl.timer_position($1)) AND t.status = 0;
  RETURN pawl.audit_own('cancel', 'timer ' || $1, FOUND);
END $f$;
