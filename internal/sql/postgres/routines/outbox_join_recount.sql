-- Count what became of these messages in their joins: it changes nothing that is counted. Runs with
-- its owner's rights, for an operator who redrives a join.
CREATE OR REPLACE FUNCTION pawl.outbox_join_recount(p_ids bigint[]) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  PERFORM pawl.outbox_join_settle(r.o_lo, r.o_n) FROM pawl.outbox_runs(p_ids) r;
END $f$;
REVOKE EXECUTE ON FUNCTION pawl.outbox_join_recount FROM PUBLIC;
