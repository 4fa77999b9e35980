-- Park claimed flows until a signal of a name comes, or a time has passed; null: for ever. One that has
-- such a signal, or one that cancels it, is due at once; one to which a transaction that is open sends
-- something is due soon: the flows that are parked with it must not wait. Counts no attempt. Returns how
-- many their owners held.
CREATE OR REPLACE FUNCTION pawl.flow_park(p_owner uuid[], p_id bigint[], p_name text[], p_delay interval[]) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_run pawl.outbox_run;
  v_got bigint := 0;
BEGIN
  FOR i IN 1 .. cardinality(p_id) LOOP
    SELECT * INTO v_run FROM pawl.outbox_take(p_owner[i], p_id[i], 1);
    CONTINUE WHEN NOT FOUND;
    v_got := v_got + 1;
    IF NOT pg_try_advisory_xact_lock(pawl.flow_key(p_id[i])) THEN
      INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) VALUES (v_run.lane, clock_timestamp() + interval '0.1 s', p_id[i], 1, v_run.retry);
      CONTINUE;
    END IF;
    IF EXISTS (SELECT FROM pawl.flow_signal s WHERE s.id = p_id[i] AND (s.name = '' OR s.name = p_name[i])
                AND NOT EXISTS (SELECT FROM pawl.flow_step t WHERE t.id = s.id AND t.signal = s.nr)) THEN
      INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) VALUES (v_run.lane, clock_timestamp(), p_id[i], 1, v_run.retry);
      PERFORM pawl.outbox_wake(ARRAY[(SELECT l.queue FROM pawl.outbox_lane l WHERE l.id = v_run.lane)]);
      CONTINUE;
    END IF;
    INSERT INTO pawl.flow_wait (id, name, retry) VALUES (p_id[i], p_name[i], v_run.retry)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, since = excluded.since, retry = excluded.retry;
    INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry) VALUES (v_run.lane, coalesce(clock_timestamp() + p_delay[i], '9999-12-31 UTC'), p_id[i], 1, v_run.retry);
  END LOOP;
  RETURN v_got;
END $f$;
