-- Remove ids p_lo to p_lo + p_n - 1 from what p_owner has claimed and return exactly what was
-- removed. If another transaction moves a run meanwhile the delete finds nothing; the next
-- read has a new snapshot and shows where it went, so nothing is missed or removed twice.
CREATE OR REPLACE FUNCTION pawl.outbox_take(p_owner uuid, p_lo bigint, p_n integer) RETURNS SETOF pawl.outbox_run LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_at  bigint := p_lo;
  v_end bigint := p_lo + p_n;
  v_run pawl.outbox_claim;
  v_cut bigint;
BEGIN
  WHILE v_at < v_end LOOP
    SELECT * INTO v_run FROM pawl.outbox_claim c WHERE c.lo <= v_at ORDER BY c.lo DESC LIMIT 1;
    IF NOT FOUND OR v_run.lo + v_run.n <= v_at THEN
      SELECT * INTO v_run FROM pawl.outbox_claim c WHERE c.lo > v_at AND c.lo < v_end ORDER BY c.lo LIMIT 1;
      EXIT WHEN NOT FOUND;
    END IF;
    IF v_run.owner <> p_owner THEN
      v_at := v_run.lo + v_run.n;
      CONTINUE;
    END IF;
    DELETE FROM pawl.outbox_claim c WHERE c.lo = v_run.lo AND c.n = v_run.n AND c.owner = p_owner RETURNING * INTO v_run;
    CONTINUE WHEN NOT FOUND;
    v_at := greatest(v_at, v_run.lo);
    v_cut := least(v_end, v_run.lo + v_run.n);
    IF v_run.lo < v_at THEN
      INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until, suspect)
      VALUES (v_run.lo, v_at - v_run.lo, v_run.lane, v_run.at, v_run.retry, v_run.owner, v_run.locked_until, v_run.suspect);
    END IF;
    IF v_cut < v_run.lo + v_run.n THEN
      INSERT INTO pawl.outbox_claim (lo, n, lane, at, retry, owner, locked_until, suspect)
      VALUES (v_cut, v_run.lo + v_run.n - v_cut, v_run.lane, v_run.at, v_run.retry, v_run.owner, v_run.locked_until, v_run.suspect);
    END IF;
    RETURN NEXT (v_at, (v_cut - v_at)::integer, v_run.lane, v_run.at, v_run.retry, v_run.owner, v_run.suspect)::pawl.outbox_run;
    v_at := v_cut;
  END LOOP;
END $f$;
