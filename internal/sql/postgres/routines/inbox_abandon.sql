-- Put messages of the inbox back for another attempt, after a delay (null:
-- backoff). One whose attempts are used up is dead, and its message failed. Returns
-- how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.inbox_abandon(owner_token uuid, ids bigint[], error text DEFAULT NULL, delay interval DEFAULT NULL, max_attempts integer DEFAULT 10) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_max   integer := pawl.check_attempts(max_attempts);
  v_delay interval := pawl.check_delay(delay);
  v_error text := pawl.check_error(error);
BEGIN
  RETURN pawl.inbox_end(owner_token, ids, v_error, v_delay, false, v_max);
END $f$;
