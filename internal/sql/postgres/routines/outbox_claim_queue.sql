-- outbox_claim_ranges for who passes where the live part of the index begins, as programs of schema 10 and
-- earlier do, or -infinity: what is before it is read last.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_queue(p_queue text, p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz, p_wait interval DEFAULT NULL, p_apart text DEFAULT NULL)
RETURNS TABLE (pawl.message_columns(),
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  RETURN QUERY SELECT r.* FROM pawl.outbox_claim_ranges(p_queue, p_owner, p_lease, p_n, p_rows, ARRAY[p_from, '-infinity'], ARRAY[NULL, p_from], p_wait, p_apart) r WHERE r.id IS NOT NULL;
END $f$;
