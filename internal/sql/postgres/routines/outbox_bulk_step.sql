-- Do the next step of a bulk act, if one is due and nobody else does it, and note what it
-- changed, and the end: the caller needs no right to redrive or discard what no operator asked
-- for. It looks at p_look failed messages and changes up to p_n of them. Returns 1, or 0.
CREATE OR REPLACE FUNCTION pawl.outbox_bulk_step(p_id uuid, p_look integer, p_n bigint, p_note uuid, p_actor text, p_target text, p_reason text) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET jit = off AS $f$
DECLARE
  v_act  record;
  v_ids  bigint[];
  v_last bigint;
  v_n    bigint;
  v_over boolean;
  v_now  timestamptz;
BEGIN
  SELECT b.action, b.ids, b.topic, b.queue, b.error, b.failed_since, b.failed_before, b.most - b.n AS room, b.rate, b.target, b.actor, b.reason, b.last, b.fingerprint INTO v_act
    FROM pawl.outbox_bulk b WHERE b.id = p_id AND b.ended_at IS NULL AND b.at <= clock_timestamp() FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  SELECT d.o_ids, d.o_last INTO v_ids, v_last
    FROM pawl.outbox_dead_pick(CASE WHEN v_act.ids IS NOT NULL THEN ARRAY(SELECT e.value::bigint FROM json_array_elements_text(v_act.ids::json) e) END,
      v_act.topic, v_act.queue, v_act.error, v_act.failed_since, v_act.failed_before, v_act.last, p_look, least(p_n, nullif(v_act.rate, 0), v_act.room), v_act.fingerprint) d;
  IF v_act.action = 'redrive' THEN
    v_n := pawl.outbox_redrive_rows(v_ids);
  ELSE
    v_n := pawl.outbox_discard(v_ids, p_id);
  END IF;
  v_over := v_last IS NULL OR coalesce(v_n >= v_act.room, false);
  v_now := clock_timestamp();
  UPDATE pawl.outbox_bulk b SET n = b.n + v_n, last = coalesce(v_last, b.last), stepped_at = v_now, ended_at = CASE WHEN v_over THEN v_now END,
    at = v_now + coalesce(v_n * interval '1 second' / nullif(b.rate, 0), interval '0') WHERE b.id = p_id;
  PERFORM pawl.audit_note(p_id, v_act.actor, v_act.action, v_act.target, v_act.reason, v_n);
  PERFORM pawl.audit_note(p_note, p_actor, 'end', p_target, p_reason, v_over::int::bigint);
  RETURN 1;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_bulk_step FROM PUBLIC;
