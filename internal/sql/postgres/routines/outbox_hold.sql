-- Lock messages where they are until the transaction ends (layout rule 7). For a run that is
-- being moved this waits and then reads again with a new snapshot, which shows where it went.
-- Returns which of them are settled, and the first that no longer exists. One that is in no place, which is
-- a fault that pawl doctor --fix repairs, is an error: it would be looked for without end.
CREATE OR REPLACE FUNCTION pawl.outbox_hold(p_ids bigint[], OUT o_settled bigint[], OUT o_gone bigint) LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $f$
DECLARE
  v_id      bigint;
  v_end     bigint := 0;
  v_settled boolean;
  v_looks   integer;
BEGIN
  FOREACH v_id IN ARRAY ARRAY(SELECT DISTINCT u.id FROM unnest(p_ids) u(id) ORDER BY u.id) LOOP
    v_looks := 0;
    WHILE v_end <= v_id LOOP
      v_settled := false;
      SELECT r.lo + r.n INTO v_end FROM pawl.outbox_ready r
       WHERE r.lo = (SELECT max(x.lo) FROM pawl.outbox_ready x WHERE x.lo <= v_id) AND r.lo + r.n > v_id FOR KEY SHARE;
      EXIT WHEN FOUND;
      SELECT c.lo + c.n INTO v_end FROM pawl.outbox_claim c
       WHERE c.lo = (SELECT max(x.lo) FROM pawl.outbox_claim x WHERE x.lo <= v_id) AND c.lo + c.n > v_id FOR KEY SHARE;
      EXIT WHEN FOUND;
      v_settled := true;
      SELECT d.lo + d.n INTO v_end FROM pawl.outbox_done d
       WHERE d.lo = (SELECT max(x.lo) FROM pawl.outbox_done x WHERE x.lo <= v_id) AND d.lo + d.n > v_id FOR KEY SHARE;
      EXIT WHEN FOUND;
      SELECT e.id + 1 INTO v_end FROM pawl.outbox_exception e WHERE e.id = v_id AND e.status >= 3 FOR SHARE;
      EXIT WHEN FOUND;
      IF NOT EXISTS (SELECT FROM pawl.outbox_message m WHERE m.id = v_id) THEN
        o_gone := v_id;
        RETURN;
      END IF;
      v_end := 0;
      v_looks := v_looks + 1;
      IF v_looks = 1000 THEN -- it may have moved behind a look
        RAISE EXCEPTION 'message at position % is in no place', v_id USING ERRCODE = 'data_corrupted', HINT = 'Run: pawl doctor --fix';
      END IF;
    END LOOP;
    IF v_settled THEN
      o_settled := array_append(o_settled, v_id);
    END IF;
  END LOOP;
END $f$;
