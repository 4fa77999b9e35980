-- Claim for a worker in another language: nothing of a paused queue. Messages that came back
-- from an expired lease are claimed apart from others and before them: claim these when you hold
-- nothing, and without them (suspects => false) when you do. Expired ones end here and are not returned.
CREATE OR REPLACE FUNCTION pawl.outbox_claim(owner_token uuid, lease_seconds integer, batch_size integer DEFAULT 50, queue text DEFAULT 'default', suspects boolean DEFAULT true)
RETURNS TABLE (id bigint, message_id uuid, topic text, payload text, correlation_id text, headers text, created_at timestamptz, due_time_utc timestamptz, retry_count integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
DECLARE
  c      record;
  v_late bigint[];
  k      integer[];
BEGIN
  PERFORM pawl.check_claim(owner_token, lease_seconds, batch_size, queue), pawl.check_null('suspects', suspects IS NULL), pawl.check_isolation('claim');
  PERFORM pawl.outbox_reap_runs(100, p_turn => (random() * 1000000)::bigint);
  IF EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = queue) THEN
    RETURN;
  END IF;
  FOR c IN SELECT * FROM pawl.outbox_claim_any(queue, owner_token, make_interval(secs => lease_seconds), least(batch_size, 1000), 10, '-infinity', suspects) LOOP
    IF c.headers LIKE '%"pawl-expires"%' AND pawl.outbox_expiry(c.headers) <= clock_timestamp() THEN -- after the claim, which takes time
      v_late := array_append(v_late, c.id);
      CONTINUE;
    END IF;
    id := c.id; message_id := c.message_id; topic := c.topic; payload := pawl.outbox_text(c.payload); correlation_id := c.correlation_id;
    headers := c.headers; created_at := c.created_at; due_time_utc := c.due_at; retry_count := c.retry;
    RETURN NEXT;
  END LOOP;
  IF v_late IS NOT NULL THEN
    k := ARRAY[cardinality(v_late)];
    PERFORM pawl.activity_count(array_fill(owner_token, k), v_late, array_fill(1, k), 'expired');
    PERFORM pawl.outbox_fail_runs(array_fill(owner_token, k), v_late, array_fill(1, k), array_fill(NULL::text, k), true, array_fill(true, k));
  END IF;
END $f$;
