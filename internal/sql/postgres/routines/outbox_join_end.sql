-- End a pending join: cancelled (3), or failed (2) if its deadline has passed. Returns 0 for
-- an unknown join, 1 if this call ended it, 2 if not.
CREATE OR REPLACE FUNCTION pawl.outbox_join_end(p_join uuid, p_status integer) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_isolation('cancel');
  UPDATE pawl.outbox_join j SET status = p_status, last_updated_utc = clock_timestamp()
   WHERE j.join_id = p_join AND j.status = 0 AND (p_status = 3 OR j.deadline_utc <= clock_timestamp());
  IF FOUND THEN
    PERFORM pawl.outbox_join_wake(ARRAY[p_join]);
    RETURN 1;
  END IF;
  RETURN 2 * (SELECT count(*) FROM pawl.outbox_join j WHERE j.join_id = p_join);
END $f$;
