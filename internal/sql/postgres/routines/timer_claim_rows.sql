-- Claim up to p_n due timers under a lease, for programs that fire them themselves: suspects,
-- as in outbox_claim_queue_suspects, or others.
CREATE OR REPLACE FUNCTION pawl.timer_claim_rows(p_owner uuid, p_lease interval, p_n integer)
RETURNS TABLE (id bigint, timer_id uuid, key text, status smallint, due_time timestamptz, at timestamptz, retry_count integer, owner uuid, locked_until timestamptz,
  lane bigint, topic text, correlation_id text, headers text, payload bytea, created_at timestamptz, processed_at timestamptz, last_error text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_ids     bigint[];
  v_suspect integer;
BEGIN
  PERFORM pawl.timer_reap();
  v_ids := ARRAY(
    WITH look AS MATERIALIZED (
      SELECT t.id, t.at, t.suspect FROM pawl.timer t WHERE t.status = 0 AND t.suspect > 0 AND t.at <= clock_timestamp() ORDER BY t.at, t.id LIMIT p_n FOR NO KEY UPDATE SKIP LOCKED)
    SELECT s.id FROM (SELECT look.id, row_number() OVER w AS k, min(look.suspect) OVER w AS most FROM look WINDOW w AS (ORDER BY look.at, look.id)) s WHERE s.k <= s.most);
  v_suspect := cardinality(v_ids);
  IF v_suspect = 0 THEN
    v_ids := ARRAY(
    SELECT t.id FROM pawl.timer t WHERE t.status = 0 AND t.suspect = 0 AND t.at <= clock_timestamp() ORDER BY t.at, t.id LIMIT p_n FOR NO KEY UPDATE SKIP LOCKED);
  END IF;
  RETURN QUERY
  UPDATE pawl.timer t SET status = 1, owner = p_owner, claimed_at = clock_timestamp(), locked_until = clock_timestamp() + p_lease, suspect = v_suspect WHERE t.id = ANY (v_ids)
  RETURNING t.id, t.timer_id, t.key, t.status, t.due_time, t.at, t.retry_count, t.owner, t.locked_until, t.lane, t.topic, t.correlation_id, t.headers, t.payload, t.created_at, t.processed_at, t.last_error;
END $f$;
