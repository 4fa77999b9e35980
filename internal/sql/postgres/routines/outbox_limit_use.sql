-- Count messages that were claimed against limits, of those that there are. outbox_limit_room has locked them.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_use(p_kind text, p_used pawl.outbox_counted[]) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $f$
BEGIN
  INSERT INTO pawl.outbox_limit_claim AS c (kind, name, id, more)
  SELECT p_kind, u.name, u.ids[1], u.ids[2:] FROM unnest(p_used) u
   WHERE cardinality(u.ids) > 0 AND EXISTS (SELECT FROM pawl.outbox_limit l WHERE l.kind = p_kind AND l.name = u.name AND l.concurrency IS NOT NULL OFFSET 0)
  ON CONFLICT (kind, name, id) DO UPDATE SET more = array_cat(c.more, excluded.more);
  UPDATE pawl.outbox_limit l
     SET next_at = pawl.limit_from(l, clock_timestamp()) + l.period * (cardinality(u.ids)::float8 / l.rate)
    FROM unnest(p_used) u WHERE cardinality(u.ids) > 0 AND l.kind = p_kind AND l.name = u.name AND l.rate IS NOT NULL;
END $f$;
