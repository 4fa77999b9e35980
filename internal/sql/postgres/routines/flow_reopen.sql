-- Let flows that failed go on at the step that failed or, where effects were undone, begin anew. One
-- that was cancelled is so no longer.
CREATE OR REPLACE FUNCTION pawl.flow_reopen(p_ids bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
BEGIN
  DELETE FROM pawl.flow_step s USING unnest(p_ids) u(id)
   WHERE s.id = u.id AND (s.kind IN (1, 4) OR EXISTS (SELECT FROM pawl.flow_step x WHERE x.id = u.id AND right(x.name, 5) = '#undo'));
  DELETE FROM pawl.flow_signal g USING unnest(p_ids) u(id) WHERE g.id = u.id AND g.name = '';
END $f$;
