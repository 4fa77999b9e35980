-- The generation: a mark that differs between generations (null on a standby), its number,
-- and how much is written to the server's log. If the history changed this begins a new
-- generation. Runs with its owner's rights: producers call it, too, and may only enqueue.
CREATE OR REPLACE FUNCTION pawl.generation_look(OUT o_mark text, OUT o_number bigint, OUT o_written bigint) LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_place text;
  v_row   record;
BEGIN
  SELECT p.o_place, p.o_written INTO v_place, o_written FROM pawl.generation_place() p;
  SELECT g.id, g.number, g.place, g.written, g.xmin::text AS writer INTO v_row FROM pawl.generation g;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF (v_row.place IS DISTINCT FROM v_place OR v_row.written IS DISTINCT FROM v_row.writer)
    AND v_place IS NOT NULL AND current_setting('transaction_read_only') = 'off' THEN
    PERFORM pawl.generation_raise(v_row.id, v_place);
    SELECT g.id, g.number INTO v_row.id, v_row.number FROM pawl.generation g;
  END IF;
  o_mark := v_row.id || '/' || v_place;
  o_number := v_row.number;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.generation_look FROM PUBLIC;
