-- outbox_claim_ranges for who passes where the live part of the index begins, as programs of schema 10 and
-- earlier do: what is before it is read last. Who passes -infinity reads everything. If that has many entries
-- that nobody can see, as while an old snapshot is open, the session keeps until when only what came since is
-- read: for a tenth of a second for each 2 000 of them, and 10 s at most. See tune.go.
CREATE OR REPLACE FUNCTION pawl.outbox_claim_queue(p_queue text, p_owner uuid, p_lease interval, p_n integer, p_rows integer, p_from timestamptz, p_wait interval DEFAULT NULL, p_apart text DEFAULT NULL)
RETURNS TABLE (pawl.message_columns(),
               retry integer, priority smallint, locked_until timestamptz, at timestamptz, length integer)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_name text := 'pawl_claim.q' || md5('pawl.outbox_ready/' || p_queue);
  v_now  float8 := extract(epoch FROM clock_timestamp());
  v_kept float8[] := nullif(current_setting(v_name, true), '')::float8[]; -- up to when all was read, and when it is again
BEGIN
  IF p_from = '-infinity' AND v_kept[2] BETWEEN v_now AND v_now + 10 THEN
    RETURN QUERY SELECT r.* FROM pawl.outbox_claim_ranges(p_queue, p_owner, p_lease, p_n, p_rows, ARRAY[to_timestamp(v_kept[1] - 2)], ARRAY[NULL]::timestamptz[], NULL, p_apart) r
      WHERE r.id IS NOT NULL OR set_config(v_name, ARRAY[coalesce(extract(epoch FROM r.at), v_kept[1]), v_kept[2]]::text, false) IS NULL;
  ELSE
    RETURN QUERY SELECT r.* FROM pawl.outbox_claim_ranges(p_queue, p_owner, p_lease, p_n, p_rows, ARRAY[p_from, '-infinity'], ARRAY[NULL, p_from], p_wait, p_apart) r
      WHERE r.id IS NOT NULL OR set_config(v_name, CASE WHEN r.length - p_n > 1000 THEN ARRAY[extract(epoch FROM r.at), extract(epoch FROM r.at) + least(10, r.length / 20000.0)]::text ELSE '' END, false) IS NULL;
  END IF;
END $f$;
