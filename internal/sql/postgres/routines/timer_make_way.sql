-- Give those of the first p_n timers from p_from to p_to new positions whose position another message has: ids
-- were allocated twice, by a history that was lost. One whose message exists already is ended.
-- Returns how many there were.
CREATE OR REPLACE FUNCTION pawl.timer_make_way(p_from timestamptz, p_to timestamptz, p_n integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  v_ids bigint[];
BEGIN
  v_ids := ARRAY(SELECT t.id FROM pawl.timer t WHERE t.status = 0 AND t.at >= p_from AND t.at <= p_to ORDER BY t.at, t.id LIMIT p_n FOR UPDATE SKIP LOCKED);
  v_ids := ARRAY(SELECT m.id FROM pawl.outbox_message m WHERE m.id = ANY (v_ids));
  UPDATE pawl.timer t SET status = 2, processed_at = clock_timestamp(), payload = ''
    FROM pawl.outbox_message m WHERE t.id = ANY (v_ids) AND m.id = t.id AND m.message_id = t.timer_id;
  UPDATE pawl.timer t SET id = nextval('pawl.outbox_single'), supplied = true WHERE t.id = ANY (v_ids) AND t.status = 0;
  RETURN cardinality(v_ids);
END $f$;
