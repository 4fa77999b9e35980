-- Put claimed timers back whose lease has expired. Returns how many.
CREATE OR REPLACE FUNCTION pawl.timer_reap_expired() RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_got bigint;
  v_all bigint := 0;
BEGIN
  LOOP
    v_got := pawl.timer_reap();
    v_all := v_all + v_got;
    EXIT WHEN v_got = 0;
  END LOOP;
  RETURN v_all;
END $f$;
