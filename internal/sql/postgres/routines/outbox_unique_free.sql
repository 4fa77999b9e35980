-- Delete these keys, which the caller has locked, except where a period is under way: those are marked.
-- Without indexes rows can only be read where they are: for a table that was empty when it was
-- analyzed the planner chose to read all of an index for each list.
CREATE OR REPLACE FUNCTION pawl.outbox_unique_free(p_tids tid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off SET jit = off AS $f$
BEGIN
  DELETE FROM pawl.outbox_unique u WHERE u.ctid = ANY (p_tids) AND (u.until IS NULL OR u.until <= p_now);
  UPDATE pawl.outbox_unique u SET id = 0 WHERE u.ctid = ANY (p_tids);
END $f$;
