-- Let the line of a message with an ordering key be claimed from again, where no head of it may be:
-- the first becomes the head, or the next does of one that is over. A message that waits behind
-- others and is not in line is put in order by the next claim. Returns 1, or 0 if nothing is wrong.
-- Rows are locked in the order in which outbox_order_release does, and read after that. A claim that
-- makes a message the head of this key at the same moment fails, and is repeated.
CREATE OR REPLACE FUNCTION pawl.outbox_order_repair(p_id bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_row   pawl.outbox_order;
  v_queue text;
  v_place integer;
BEGIN
  SELECT o.* INTO v_row FROM pawl.outbox_order o WHERE o.id = p_id FOR UPDATE;
  IF NOT FOUND THEN
    UPDATE pawl.outbox_ready r SET lane = m.lane FROM pawl.outbox_message m, pawl.outbox_lane w
     WHERE r.lo = p_id AND m.id = p_id AND w.id = r.lane AND w.kind = 2 AND NOT EXISTS (SELECT FROM pawl.outbox_order o WHERE o.id = p_id) RETURNING w.queue INTO v_queue;
    IF NOT FOUND THEN
      RETURN 0;
    END IF;
    PERFORM pawl.outbox_wake(ARRAY[v_queue]);
    RETURN 1;
  END IF;
  IF NOT v_row.head THEN
    IF EXISTS (SELECT FROM pawl.outbox_order o WHERE o.lane = v_row.lane AND o.key = v_row.key AND o.head) THEN
      RETURN 0;
    END IF;
    SELECT o.* INTO v_row FROM pawl.outbox_order o WHERE o.lane = v_row.lane AND o.key = v_row.key ORDER BY o.id LIMIT 1 FOR UPDATE;
    IF NOT FOUND THEN
      RETURN 0;
    END IF;
  END IF;
  v_place := pawl.line_place(v_row.id);
  IF v_place IN (1, 3) THEN -- others wait for it as they should, if it is the head
    UPDATE pawl.outbox_order o SET head = true WHERE o.id = v_row.id AND NOT o.head;
    RETURN FOUND::integer;
  END IF;
  UPDATE pawl.outbox_order o SET head = false WHERE o.id = v_row.id AND o.head;
  PERFORM pawl.outbox_order_lead(ARRAY[v_row.lane], ARRAY[v_row.key]);
  RETURN 1;
END $f$;
