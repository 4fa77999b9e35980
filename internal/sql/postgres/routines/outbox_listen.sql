-- Have this session notified of messages of a queue, from the end of this transaction on: claim once
-- more then, before you wait. Returns whether the session took the queue's lock, which has those who
-- enqueue notify; otherwise another one sleeps, or a transaction that enqueues is open: poll
-- meanwhile. Give the lock back with outbox_unlisten when there is work.
CREATE OR REPLACE FUNCTION pawl.outbox_listen(queue text DEFAULT 'default') RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_text('queue', $1, 255, true);
  EXECUTE 'LISTEN ' || quote_ident('pawl_' || left(md5('pawl.outbox_wake'), 16));
  RETURN pg_try_advisory_lock(hashtextextended('pawl.outbox_wake/' || $1, 0));
END $f$;
