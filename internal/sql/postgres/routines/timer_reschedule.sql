-- Change the due time of a timer: false if it fired or was cancelled.
CREATE OR REPLACE FUNCTION pawl.timer_reschedule(timer_id uuid, due_time timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.audit_own('reschedule', 'timer ' || $1, pawl.timer_move($1, pawl.timer_due($2)) = 1);
END $f$;
