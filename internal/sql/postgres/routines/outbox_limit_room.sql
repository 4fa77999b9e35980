-- How many messages of a limit may be claimed now, at most p_n, or p_n if there is no limit. Claims
-- under one limit take turns: each holds it until its transaction ends. One that waits for long gets
-- none, since the other may be part of a transaction that does more. Whoever asks checks first that the
-- limit is not full (full_limit): processes that wait for a place would keep those that have one from
-- using it again, and make each of their polls a commit that has something to write. Those that are
-- no longer claimed are deleted when they take the place of others, or when there are so many that each
-- claim would count them for long: as often as one check for each claimed message takes. A topic gets a row of its own
-- here if a limit for each topic of a pattern holds for it: that of the longest pattern.
CREATE OR REPLACE FUNCTION pawl.outbox_limit_room(p_kind text, p_name text, p_n integer) RETURNS integer LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET lock_timeout = '100ms' AS $f$
DECLARE
  v_limit pawl.outbox_limit;
  v_n     integer := p_n;
  v_held  integer;
  v_gone  integer;
  v_now   timestamptz;
  v_from  timestamptz; -- when the first of those could have been claimed
BEGIN
  BEGIN
    SELECT * INTO v_limit FROM pawl.outbox_limit l WHERE l.kind = p_kind AND l.name = p_name FOR UPDATE;
    IF NOT FOUND AND p_kind = 'topic' AND EXISTS (SELECT FROM pawl.outbox_limit e WHERE e.kind = 'each') THEN
      PERFORM pawl.outbox_limit_topic(p_name);
      SELECT * INTO v_limit FROM pawl.outbox_limit l WHERE l.kind = p_kind AND l.name = p_name FOR UPDATE;
    END IF;
  EXCEPTION WHEN lock_not_available THEN
    RETURN 0;
  END;
  IF v_limit.concurrency IS NOT NULL THEN
    SELECT count(*) INTO v_held FROM pawl.outbox_limit_claim u WHERE u.kind = p_kind AND u.name = p_name;
    IF v_held + v_n > v_limit.concurrency OR v_held > 200 AND random() * v_held < v_n THEN
      DELETE FROM pawl.outbox_limit_claim u WHERE u.kind = p_kind AND u.name = p_name AND NOT pawl.holds(pawl.outbox_claim, u.id);
      GET DIAGNOSTICS v_gone = ROW_COUNT;
      v_held := v_held - v_gone;
    END IF;
    v_n := least(v_n, v_limit.concurrency - v_held);
  END IF;
  IF v_limit.rate IS NOT NULL THEN
    v_now := clock_timestamp();
    v_from := pawl.limit_from(v_limit, v_now);
    v_n := CASE WHEN v_now >= v_from THEN least(v_n, 1 + floor(extract(epoch FROM v_now - v_from) / extract(epoch FROM v_limit.period) * v_limit.rate)) ELSE 0 END;
  END IF;
  RETURN greatest(v_n, 0);
END $f$;
