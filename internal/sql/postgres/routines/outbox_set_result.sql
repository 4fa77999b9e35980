-- Store the result of a message that owner_token holds, for every join of which it is a
-- member, or for those who await it: call it before outbox_ack, in the same transaction. An empty one
-- is none. Returns false, and stores nothing, for a message that is not held.
CREATE OR REPLACE FUNCTION pawl.outbox_set_result(owner_token uuid, id bigint, result text) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $f$
DECLARE
  v_result bytea := convert_to($3, 'UTF8');
BEGIN
  PERFORM pawl.check_id('owner token', $1), pawl.check_null('result', $3 IS NULL), pawl.check_bytes('result', length(v_result), 65536);
  RETURN pawl.outbox_join_results(ARRAY[$1], ARRAY[$2], ARRAY[v_result]) > 0;
END $f$;
