-- Claim up to p_n due timers under a lease, for programs that fire them themselves: suspects,
-- as in outbox_claim_suspects, or others.
CREATE OR REPLACE FUNCTION pawl.timer_claim_rows(p_owner uuid, p_lease interval, p_n integer) RETURNS SETOF pawl.timer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
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
  UPDATE pawl.timer t SET status = 1, owner = p_owner, claimed_at = clock_timestamp(), locked_until = clock_timestamp() + p_lease, suspect = v_suspect WHERE t.id = ANY (v_ids) RETURNING t.*;
END $f$;
