-- Store steps of flows, in order of their ids, whose messages their owners hold. One that is stored
-- already stays as it is. Returns how many are held.
CREATE OR REPLACE FUNCTION pawl.flow_keep(p_owner uuid[], p_id bigint[], p_name text[], p_kind integer[], p_nr integer[], p_retry integer[], p_signal integer[], p_result bytea[]) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET jit = off AS $f$
DECLARE
  v_held boolean[];
BEGIN
  v_held := pawl.outbox_hold_claimed(p_owner, p_id);
  INSERT INTO pawl.flow_step (id, name, kind, nr, retry, signal, result)
  SELECT u.id, u.name, u.kind, u.nr, u.retry, u.signal, u.result
    FROM unnest(p_id, p_name, p_kind, p_nr, p_retry, p_signal, p_result, v_held) u(id, name, kind, nr, retry, signal, result, held) WHERE u.held
  ON CONFLICT DO NOTHING;
  RETURN cardinality(array_remove(v_held, false));
END $f$;
