-- Put back up to p_runs runs of an ended pause, and delete the pause when there are none
-- left. What has lost all its messages is removed. Returns how many messages were put back.
CREATE OR REPLACE FUNCTION pawl.outbox_unpark_runs(p_topic text, p_runs integer) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $f$
DECLARE
  v_lane   bigint;
  v_got    bigint;
  v_queues text[];
BEGIN
  PERFORM pawl.check_isolation('resume');
  SELECT p.lane INTO v_lane FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = p_topic AND p.ending FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 0;
  END IF;
  LOOP
    WITH x AS MATERIALIZED (
      SELECT r.lo, (SELECT y.id FROM pawl.outbox_message y WHERE y.id >= r.lo AND y.id < r.lo + r.n ORDER BY y.id LIMIT 1) AS first FROM pawl.outbox_ready r WHERE r.lane = v_lane ORDER BY r.at, r.lo LIMIT p_runs FOR UPDATE),
    u AS (
      UPDATE pawl.outbox_ready r SET lane = (SELECT y.lane FROM pawl.outbox_message y WHERE y.id >= r.lo AND y.id < r.lo + r.n ORDER BY y.id LIMIT 1)
       WHERE r.lo = ANY (ARRAY(SELECT x.lo FROM x WHERE x.first IS NOT NULL)) RETURNING r.n, r.lane),
    gone AS (
      DELETE FROM pawl.outbox_ready r WHERE r.lo = ANY (ARRAY(SELECT x.lo FROM x WHERE x.first IS NULL)))
    SELECT coalesce(sum(u.n), 0), array_agg(DISTINCT l.queue) INTO v_got, v_queues FROM u JOIN pawl.outbox_lane l ON l.id = u.lane;
    EXIT WHEN v_got > 0;
    -- All that was read has lost its messages; or a transaction that withdrew a message left the rest
    -- of its run (outbox_withdraw): only a new snapshot shows that.
    IF NOT EXISTS (SELECT FROM pawl.outbox_ready r WHERE r.lane = v_lane) THEN
      DELETE FROM pawl.outbox_pause p WHERE p.kind = 'topic' AND p.name = p_topic;
      RETURN 0;
    END IF;
  END LOOP;
  PERFORM pawl.outbox_wake(v_queues);
  RETURN v_got;
END $f$;
