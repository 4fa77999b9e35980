-- Take a unique key for a message that is to be written, p_id with p_mid, in one transaction with
-- it. p_carried: the position that an id made by pawl carries, or 0. o_mid is null if the message is
-- to be written; o_at is when the one that it replaces was due. Otherwise o_mid is that of the
-- message in its place, or its own if it is stored already. The key's row is locked until the
-- transaction ends, so that enqueues with one key take turns. Where the earlier message lies is
-- read in one statement: it moves, and is in one place in each snapshot.
CREATE OR REPLACE FUNCTION pawl.outbox_unique_take(p_key text, p_id bigint, p_mid uuid, p_carried bigint, p_unbegun boolean, p_period interval, p_replace boolean, p_debounce boolean,
  p_due timestamptz, OUT o_mid uuid, OUT o_at timestamptz) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  v_now   timestamptz;
  v_held  pawl.outbox_unique;
  v_waits boolean;
  v_runs  boolean;
  v_found boolean;
BEGIN
  LOOP
    INSERT INTO pawl.outbox_unique (key, id, message_id, enqueued_at, until)
    VALUES (p_key, p_id, p_mid, clock_timestamp(), clock_timestamp() + p_period) ON CONFLICT (key) DO NOTHING;
    IF FOUND THEN
      RETURN;
    END IF;
    SELECT u.* INTO v_held FROM pawl.outbox_unique u WHERE u.key = p_key FOR UPDATE;
    CONTINUE WHEN NOT FOUND; -- the purge has deleted it
    IF EXISTS (SELECT FROM pawl.outbox_message m WHERE m.id IN (p_id, p_carried) AND m.message_id = p_mid)
       OR EXISTS (SELECT FROM pawl.outbox_message m WHERE m.message_id = p_mid AND m.supplied) OR pawl.timer_waits(p_carried, p_mid) THEN
      o_mid := p_mid; -- by an attempt whose outcome was unknown
      RETURN;
    END IF;
    v_now := clock_timestamp();
    SELECT EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= v_held.id) AND r.lo + r.n > v_held.id),
           EXISTS (SELECT FROM pawl.outbox_claim c WHERE c.lo = (SELECT max(x.lo) FROM pawl.outbox_claim x WHERE x.lo <= v_held.id) AND c.lo + c.n > v_held.id)
      INTO v_waits, v_runs;
    v_found := CASE WHEN p_period IS NOT NULL THEN v_held.enqueued_at > v_now - p_period WHEN p_unbegun THEN v_waits ELSE v_waits OR v_runs END;
    EXIT WHEN NOT v_found;
    IF v_waits AND (p_replace OR p_debounce OR p_unbegun AND p_period IS NULL) THEN -- claims pass it over until this transaction has ended
      SELECT pawl.planned(r.at) INTO o_at FROM pawl.outbox_ready r
       WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= v_held.id) AND r.lo + r.n > v_held.id FOR UPDATE;
      CONTINUE WHEN NOT FOUND; -- it was moved
    END IF;
    EXIT WHEN p_replace AND v_waits;
    IF p_debounce AND v_waits THEN
      PERFORM pawl.outbox_reschedule(ARRAY[v_held.id], coalesce(p_due, v_now));
    END IF;
    o_mid := v_held.message_id;
    RETURN;
  END LOOP;
  IF v_found THEN
    PERFORM pawl.outbox_cancel(ARRAY[v_held.id], 'replaced by ' || p_mid);
  END IF;
  IF p_debounce THEN
    o_at := NULL;
  END IF;
  UPDATE pawl.outbox_unique u SET id = p_id, message_id = p_mid, enqueued_at = v_now, until = v_now + p_period WHERE u.key = p_key;
END $f$;
