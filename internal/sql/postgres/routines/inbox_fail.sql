-- Give messages of the inbox up: they are dead, and their messages failed. Returns
-- how many of them owner_token held.
CREATE OR REPLACE FUNCTION pawl.inbox_fail(owner_token uuid, ids bigint[], error text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN pawl.inbox_end(owner_token, ids, pawl.check_error(error), NULL, true, 0);
END $f$;
