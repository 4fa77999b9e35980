-- Park a claimed wait until its join has ended: it is not due before its deadline or, without
-- one, ever; the last step makes it due. If the join ended meanwhile it is due at once. So is a flow that
-- is cancelled; one to which a transaction that is open sends something is due soon, as in flow_park.
-- Counts no attempt. Returns whether p_owner still held the wait.
CREATE OR REPLACE FUNCTION pawl.outbox_join_park(p_join uuid, p_owner uuid, p_id bigint, p_flow boolean DEFAULT false) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_run  pawl.outbox_run;
  v_join record;
  v_at   timestamptz;
BEGIN
  SELECT * INTO v_run FROM pawl.outbox_take(p_owner, p_id, 1);
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT j.status, j.deadline_utc INTO v_join FROM pawl.outbox_join j WHERE j.join_id = p_join FOR SHARE;
  IF v_join.status = 0 THEN
    INSERT INTO pawl.outbox_join_wait (id, join_id) VALUES (p_id, p_join) ON CONFLICT (id) DO UPDATE SET join_id = excluded.join_id;
    v_at := coalesce(v_join.deadline_utc, '9999-12-31 UTC');
    IF p_flow AND NOT pg_try_advisory_xact_lock(pawl.flow_key(p_id)) THEN
      v_at := clock_timestamp() + interval '0.1 s';
    END IF;
  END IF;
  IF v_at IS NULL OR p_flow AND EXISTS (SELECT FROM pawl.flow_signal s WHERE s.id = p_id AND s.name = '') THEN
    v_at := clock_timestamp();
    PERFORM pawl.outbox_wake(ARRAY[(SELECT l.queue FROM pawl.outbox_lane l WHERE l.id = v_run.lane)]);
  END IF;
  INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) VALUES (v_run.lane, v_at, p_id, 1, v_run.retry);
  RETURN 1;
END $f$;
