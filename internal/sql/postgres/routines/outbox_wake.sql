-- Notify sleeping workers of these queues. A worker that sleeps holds its queue's advisory
-- lock: only then is a NOTIFY worth its cost (65-70 % of commit throughput if every producer
-- sends one). The shared lock lasts until commit, so that a worker cannot go to sleep in
-- between.
CREATE OR REPLACE FUNCTION pawl.outbox_wake(p_queues text[]) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_queue text;
BEGIN
  FOREACH v_queue IN ARRAY p_queues LOOP
    PERFORM pawl.wake(v_queue);
  END LOOP;
  RETURN true;
END $f$;
