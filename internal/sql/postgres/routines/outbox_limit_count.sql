-- How many claimed messages count against a limit, which outbox_limit_room has locked. Those that are no
-- longer claimed are left out from now on.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_count(p_kind text, p_name text) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
BEGIN
  WITH gone AS (
    DELETE FROM pawl.outbox_limit_claim u
     WHERE u.kind = p_kind AND u.name = p_name AND EXISTS (SELECT FROM unnest(array_prepend(u.id, u.more)) i(id) WHERE NOT (pawl.claimed_now(i.id)))
    RETURNING u.id, u.more),
  live AS (SELECT DISTINCT i.id FROM gone pawl.limit_ids(gone) WHERE pawl.claimed_now(i.id))
  INSERT INTO pawl.outbox_limit_claim AS u (kind, name, id, more)
  SELECT p_kind, p_name, min(live.id), (array_agg(live.id ORDER BY live.id))[2:] FROM live HAVING count(*) > 0
  ON CONFLICT (kind, name, id) DO UPDATE SET more = array_cat(u.more, excluded.more);
  RETURN (SELECT count(DISTINCT i.id) FROM pawl.outbox_limit_claim u pawl.limit_ids(u) WHERE u.kind = p_kind AND u.name = p_name);
END $f$;
