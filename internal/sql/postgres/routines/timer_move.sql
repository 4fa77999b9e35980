-- Change the due time of a pending timer, null for now. Returns 1, or 0 if it is not pending.
CREATE OR REPLACE FUNCTION pawl.timer_move(p_timer uuid, p_due timestamptz) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_due timestamptz := coalesce(p_due, clock_timestamp());
BEGIN
  UPDATE pawl.timer t SET due_time = v_due, at = v_due WHERE t.id = (SELECT pawl.timer_position(p_timer)) AND t.status = 0;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  PERFORM pawl.timer_wake(v_due);
  RETURN 1;
END $f$;
