-- Have this session notified of messages of a queue, from the end of this transaction on: claim once
-- more then, before you wait. Returns whether the session took the queue's lock, which has those who
-- enqueue notify. False: another one sleeps and has it. Null: transactions that enqueue are open, which
-- will notify nobody: poll soon. Give the lock back with outbox_unlisten when there is work.
CREATE OR REPLACE FUNCTION pawl.outbox_listen(queue text DEFAULT 'default') RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_key bigint := hashtextextended('pawl.outbox_wake/' || $1, 0);
BEGIN
  PERFORM pawl.check_text('queue', $1, 255, true);
  EXECUTE 'LISTEN ' || quote_ident('pawl_' || left(md5('pawl.outbox_wake'), 16));
  RETURN CASE WHEN pg_try_advisory_lock(v_key) THEN true WHEN NOT pg_try_advisory_lock_shared(v_key) THEN false WHEN pg_advisory_unlock_shared(v_key) THEN NULL END;
END $f$;
