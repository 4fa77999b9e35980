-- A block of ids for a process, and what generation_look says. For a transaction of
-- its own: once that has committed the block is on disk, and with synchronous
-- standbys there, too. A sequence logs ahead and a transaction that only draws from
-- it may log nothing, so that it would not wait for the log: the row lock writes to it.
-- A sequence that is behind the messages, as after a restore, is moved on.
CREATE OR REPLACE FUNCTION pawl.outbox_block(OUT o_block bigint, OUT o_mark text, OUT o_number bigint, OUT o_written bigint) LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_high bigint;
BEGIN
  SELECT g.o_mark, g.o_number, g.o_written INTO o_mark, o_number, o_written FROM pawl.generation_look() g;
  PERFORM FROM pawl.generation g FOR KEY SHARE;
  IF current_setting('synchronous_commit') IN ('off', 'local', 'remote_write') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  v_high := pawl.outbox_highest(1, 140737488355327);
  LOOP
    o_block := nextval('pawl.outbox_block');
    EXIT WHEN o_block * 4096 > v_high;
  END LOOP;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_block FROM PUBLIC;
