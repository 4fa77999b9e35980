-- When a timer is due that is not due before p_from, or is due from p_low to before p_high, or its claim ends, and at
-- the latest after p_within. due: such a timer is due now. late: one of the other range is. read: how many entries
-- that has, with those that nobody can see.
CREATE OR REPLACE FUNCTION pawl.timer_next_due(p_from timestamptz, p_low timestamptz, p_high timestamptz, p_within interval,
  OUT next timestamptz, OUT due boolean, OUT late boolean, OUT at timestamptz, OUT read integer) LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
#variable_conflict use_column
DECLARE
  v_next   timestamptz := (SELECT min(t.at) FROM pawl.timer t WHERE t.status = 0 AND t.at >= p_from);
  v_before bigint := pg_stat_get_xact_tuples_returned('pawl.timer_at_id_idx'::regclass);
  v_late   timestamptz := (SELECT min(t.at) FROM pawl.timer t WHERE t.status = 0 AND t.at >= p_low AND t.at < p_high);
BEGIN
  read := pg_stat_get_xact_tuples_returned('pawl.timer_at_id_idx'::regclass) - v_before;
  at := clock_timestamp();
  due := coalesce(v_next <= at, false);
  late := coalesce(v_late <= at, false);
  next := least(v_next, v_late, at + p_within, (SELECT min(t.locked_until) FROM pawl.timer t WHERE t.status = 1 AND t.owner IS NOT NULL));
END $f$;
