-- Record a delivery. Returns 0 if the message may be processed, 2 done, 3 dead, 4 another
-- hash than the first time, 5 it is being processed. A missing hash is filled in. The row is
-- locked from here on. Named are the columns that a producer may read: not the last error.
CREATE OR REPLACE FUNCTION pawl.inbox_see(p_source text, p_message text, p_hash bytea, p_token uuid DEFAULT NULL) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v record;
BEGIN
  INSERT INTO pawl.inbox AS i (source, message_id, hash) VALUES (p_source, p_message, p_hash)
  ON CONFLICT (source, message_id) DO UPDATE SET last_seen_utc = clock_timestamp(), deliveries = i.deliveries + 1,
    hash = coalesce(i.hash, excluded.hash), mismatches = i.mismatches + coalesce((i.hash <> excluded.hash)::integer, 0)
  RETURNING i.hash, i.status, i.token, i.locked_until_utc INTO v;
  RETURN CASE WHEN v.hash <> p_hash THEN 4
              WHEN v.status = 'Done' THEN 2
              WHEN v.status = 'Dead' THEN 3
              WHEN v.status = 'Processing' AND v.token IS DISTINCT FROM p_token AND v.locked_until_utc > clock_timestamp() THEN 5
              ELSE 0 END;
END $f$;
