-- Park a claimed wait until its join has ended: it is not due before its deadline or, without
-- one, ever; the last step makes it due. If the join ended meanwhile it is due at once.
-- Counts no attempt. Returns whether p_owner still held the wait.
CREATE OR REPLACE FUNCTION pawl.outbox_join_park(p_join uuid, p_owner uuid, p_id bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_run  pawl.outbox_run;
  v_join record;
BEGIN
  SELECT * INTO v_run FROM pawl.outbox_take(p_owner, p_id, 1);
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT j.status, j.deadline_utc INTO v_join FROM pawl.outbox_join j WHERE j.join_id = p_join FOR SHARE;
  IF v_join.status = 0 THEN
    INSERT INTO pawl.outbox_join_wait (id, join_id) VALUES (p_id, p_join) ON CONFLICT (id) DO UPDATE SET join_id = excluded.join_id;
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) VALUES (v_run.lane, coalesce(v_join.deadline_utc, '9999-12-31 UTC'), p_id, 1, v_run.retry);
  ELSE
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) VALUES (v_run.lane, clock_timestamp(), p_id, 1, v_run.retry);
    PERFORM pawl.outbox_wake(ARRAY[(SELECT l.queue FROM pawl.outbox_lane l WHERE l.id = v_run.lane)]);
  END IF;
  RETURN 1;
END $f$;
