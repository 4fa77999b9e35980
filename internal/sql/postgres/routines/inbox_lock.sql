-- Lock messages at these positions until the transaction ends, in the same order for all
-- callers; inbox_take, which must not wait, then fails to get the lock.
CREATE OR REPLACE FUNCTION pawl.inbox_lock(p_ids bigint[]) RETURNS TABLE (id bigint, source text, message text, hash bytea) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
#variable_conflict use_column
BEGIN
  FOR id, source, message, hash IN
    SELECT m.id, k.o_source, k.o_message, k.o_hash FROM pawl.outbox_message m, pawl.inbox_key(m.headers) k
     WHERE m.id = ANY (p_ids) AND k.o_wrong IS NULL ORDER BY k.o_source, k.o_message
  LOOP
    PERFORM pg_advisory_xact_lock(pawl.inbox_lock_key(source, message));
    RETURN NEXT;
  END LOOP;
END $f$;
