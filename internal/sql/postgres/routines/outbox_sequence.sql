-- Put enqueued messages with ordering keys in order. The first of a key that has no head
-- becomes its head, and may be claimed; the others wait for it (outbox_order_release). Positions
-- come from one sequence while messages are written, and a message that is visible here is so
-- with all that were committed before it was written: in order of position is in order of
-- commits, where transactions follow each other. Nothing waits for a lock: a key of which a message or
-- the head is locked is left for one of the next claims, whole.
-- What is due at once lies in groups, one a key (ordering.At). Of a group some messages are put in order,
-- and then those of the next, from a group that is chosen at random: however many messages a key has,
-- others are found behind them, and a claim takes a few milliseconds. What was due later lies in order of
-- its time, beside those of programs that know no groups, and is read from the first: a step that went on
-- behind the one before could see the second message of a transaction, and have missed the first, where
-- another's lies between the two. Each part ends when p_n heads were found: a claim takes no more.
-- 200 000 messages of one key while two processors had 20 other processes to run: 30 of them a second, and a
-- message enqueued behind them, with another key or none, waited 0.1 s; 1 in 40 s, and 14 s, when a claim
-- took all up to a position.
CREATE OR REPLACE FUNCTION pawl.outbox_sequence(p_queue text, p_n integer) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $f$
DECLARE
  v_now     timestamptz := clock_timestamp();
  v_first   constant timestamptz := timestamptz 'epoch' - 4294967296 * interval '1 microsecond'; -- of the groups: what takes turns is before
  v_last    constant timestamptz := timestamptz 'epoch' - interval '1 microsecond'; -- of the groups
  v_start   timestamptz := timestamptz 'epoch' - floor(1 + random() * 4294967296) * interval '1 microsecond';
  v_low     timestamptz := v_start;
  v_high    timestamptz := v_last;
  v_ordered bigint;
  v_ready   bigint;
  v_waiting bigint;
  v_most    integer := least(500, greatest(100, p_n)); -- of a step, in messages
  v_size    integer := 500; -- of a step of what was due later
  v_heads   integer := 0;
  v_moved   integer := 0;
  v         record;
BEGIN
  SELECT l.id INTO v_ordered FROM pawl.outbox_lane l WHERE l.queue = p_queue AND l.kind = 1 AND l.priority = 0;
  IF v_ordered IS NULL OR NOT EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_ordered AND r.at >= v_first AND r.at <= v_now) THEN
    RETURN;
  END IF;
  v_ready := pawl.outbox_lane_id(p_queue, 0::smallint);
  v_waiting := pawl.outbox_lane_id(p_queue, 0::smallint, 2::smallint);
  IF EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_ordered AND r.at >= 'epoch' AND r.at <= v_now) THEN
    FOR v_step IN 1 .. 4 LOOP
      v := pawl.outbox_sequence_step(v_ordered, v_ready, v_waiting, 'epoch', v_now, v_size, v_size);
      v_heads := v_heads + v.o_heads;
      v_moved := v_moved + v.o_moved;
      EXIT WHEN v_heads >= p_n OR v_moved >= v_most OR NOT v.o_full;
      v_size := v.o_left + 2 * v_size;
    END LOOP;
  END IF;
  v_heads := 0;
  v_moved := 0;
  FOR v_step IN 1 .. 8 LOOP
    v := pawl.outbox_sequence_step(v_ordered, v_ready, v_waiting, v_low, v_high, v_most, 100);
    v_heads := v_heads + v.o_heads;
    v_moved := v_moved + v.o_moved;
    EXIT WHEN v_heads >= p_n OR v_heads > 0 AND v_moved >= 500;
    IF v.o_full THEN
      v_low := v.o_at + v.o_alone::integer * interval '1 microsecond';
    ELSE
      EXIT WHEN v_high < v_start;
      v_low := v_first;
      v_high := v_start - interval '1 microsecond';
    END IF;
  END LOOP;
END $f$;
