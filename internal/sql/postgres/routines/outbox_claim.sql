-- Claim for a worker in another language: nothing of a paused queue. Messages that came back
-- from an expired lease are claimed apart from others and before them: claim when you hold
-- nothing.
CREATE OR REPLACE FUNCTION pawl.outbox_claim(owner_token uuid, lease_seconds integer, batch_size integer DEFAULT 50, queue text DEFAULT 'default')
RETURNS TABLE (id bigint, message_id uuid, topic text, payload text, correlation_id text, headers text, created_at timestamptz, due_time_utc timestamptz, retry_count integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_variable
BEGIN
  PERFORM pawl.check_claim(owner_token, lease_seconds, batch_size, queue);
  PERFORM pawl.outbox_reap_runs(100);
  IF EXISTS (SELECT FROM pawl.outbox_pause p WHERE p.kind = 'queue' AND p.name = queue) THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT c.id, c.message_id, c.topic, pawl.outbox_text(c.payload), c.correlation_id, c.headers, c.created_at, c.due_at, c.retry
    FROM pawl.outbox_claim_any(queue, owner_token, make_interval(secs => lease_seconds), least(batch_size, 1000), least(batch_size, 1000), '-infinity') c;
END $f$;
