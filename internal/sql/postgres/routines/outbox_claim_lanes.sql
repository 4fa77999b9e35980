-- Claim up to p_n messages of these lanes, without regard to limits: p_what is 'regular', see the macro
-- claim_regular, or 'suspects', see claim_suspects, which has no use for the parameters behind p_n. The
-- messages are read by whoever knows which of them stay claimed.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_lanes(p_what text, p_lanes bigint[], p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz[], p_to timestamptz[], p_wait interval)
RETURNS pawl.outbox_held[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_now  timestamptz := clock_timestamp();
  v_need integer := p_n;
  v_got  integer;
  v_take integer;
  v_lane record;
  v_late bigint;
  v_read bigint := 0;
  v_runs pawl.outbox_held[] := '{}';
BEGIN
  IF p_what = 'suspects' THEN
  pawl.claim_suspects((SELECT x.id, x.priority FROM pawl.outbox_lane x WHERE x.id = ANY (p_lanes)), , pawl.claimed_runs())
  ELSE
  pawl.claim_regular((SELECT x.id, x.priority FROM pawl.outbox_lane x WHERE x.id = ANY (p_lanes)), , pawl.claimed_runs())
  END IF;
  RETURN v_runs;
END $f$;
