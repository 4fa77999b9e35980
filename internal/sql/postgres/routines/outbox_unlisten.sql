-- Give back the lock that outbox_listen took: while it is held, every enqueue pays for a notification.
-- The session goes on listening.
CREATE OR REPLACE FUNCTION pawl.outbox_unlisten(queue text DEFAULT 'default') RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_text('queue', $1, 255, true);
  RETURN pg_advisory_unlock(hashtextextended('pawl.outbox_wake/' || $1, 0));
END $f$;
