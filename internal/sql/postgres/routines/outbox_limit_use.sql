-- Count messages that were claimed against a limit, if there is one. outbox_limit_room has locked it.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_use(p_kind text, p_name text, p_ids bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
BEGIN
  INSERT INTO pawl.outbox_limit_claim (kind, name, id)
  SELECT l.kind, l.name, i FROM pawl.outbox_limit l, unnest(p_ids) i WHERE l.kind = p_kind AND l.name = p_name AND l.concurrency IS NOT NULL
  ON CONFLICT DO NOTHING;
  UPDATE pawl.outbox_limit l
     SET next_at = pawl.limit_from(l, clock_timestamp()) + l.period * (cardinality(p_ids)::float8 / l.rate)
   WHERE l.kind = p_kind AND l.name = p_name AND l.rate IS NOT NULL AND cardinality(p_ids) > 0;
END $f$;
