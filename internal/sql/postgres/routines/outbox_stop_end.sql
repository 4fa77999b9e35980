-- End requests of outbox_stop whose messages are not claimed any more: those that wait again are cancelled.
CREATE OR REPLACE FUNCTION pawl.outbox_stop_end(p_ids bigint[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  s     record;
  v_got bigint := 0;
BEGIN
  FOR s IN SELECT x.id, x.owner, x.reason FROM pawl.outbox_stopping x WHERE x.id = ANY (p_ids) ORDER BY x.id FOR UPDATE LOOP
    CONTINUE WHEN pawl.stopping(s);
    DELETE FROM pawl.outbox_stopping x WHERE x.id = s.id;
    v_got := v_got + 1;
    IF s.owner IS NULL THEN
      PERFORM pawl.outbox_stop(ARRAY[s.id], s.reason); -- which asks again if it was claimed meanwhile
    END IF;
  END LOOP;
  RETURN v_got;
END $f$;
