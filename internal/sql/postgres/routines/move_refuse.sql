-- Refuses every write of others while a store is moved. The arguments are the move, whose own
-- transactions pass, and the error's text. They are part of the trigger, which a transaction with
-- an old snapshot sees as well; a table it would not.
CREATE OR REPLACE FUNCTION pawl.move_refuse() RETURNS trigger LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  IF current_setting('pawl_move.id', true) IS DISTINCT FROM TG_ARGV[0] THEN
    RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = TG_ARGV[1];
  END IF;
  RETURN NULL;
END $f$;
