-- Put claimed timers back for another attempt, after a delay (null: backoff), and
-- count this one as failed. Returns how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.timer_abandon(owner_token uuid, ids uuid[], error text DEFAULT NULL, delay interval DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_id('owner token', owner_token);
  RETURN pawl.timer_abandon_rows(owner_token, ids, pawl.check_delay(delay), pawl.check_error(error));
END $f$;
