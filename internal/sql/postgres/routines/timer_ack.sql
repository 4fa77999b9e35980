-- Mark claimed timers as fired. Returns how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.timer_ack(owner_token uuid, ids uuid[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_id('owner token', owner_token);
  RETURN pawl.timer_end_rows(owner_token, ids, 2, NULL);
END $f$;
