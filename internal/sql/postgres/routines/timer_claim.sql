-- Claim due timers, for programs that fire them themselves, first due first. A claimed one is
-- not dispatched, and a dispatched one cannot be claimed.
CREATE OR REPLACE FUNCTION pawl.timer_claim(owner_token uuid, lease_seconds integer, batch_size integer DEFAULT 50)
RETURNS TABLE (id uuid, topic text, payload text, correlation_id text, headers text, key text, created_at timestamptz, due_time timestamptz, retry_count integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.check_claim(owner_token, lease_seconds, batch_size, 'default');
  RETURN QUERY SELECT t.timer_id, t.topic, pawl.outbox_text(t.payload), t.correlation_id, t.headers, t.key, t.created_at, t.due_time, t.retry_count
    FROM pawl.timer_claim_rows(owner_token, make_interval(secs => lease_seconds), least(batch_size, 1000)) t ORDER BY t.at, t.id;
END $f$;
