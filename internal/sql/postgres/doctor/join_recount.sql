-- A statement of its own after the one that locks the join: it has a new snapshot.
WITH m AS MATERIALIZED (
  SELECT count(*) FILTER (WHERE x.status = 1)::int AS completed, count(*) FILTER (WHERE x.status = 2)::int AS failed
    FROM pawl.outbox_join_member x WHERE x.join_id = @join_id),
u AS (
  UPDATE pawl.outbox_join j
     SET completed_steps = m.completed, failed_steps = m.failed, last_updated_utc = CASE WHEN j.status = 0 THEN @now ELSE j.last_updated_utc END,
         status = CASE WHEN j.status <> 0 OR m.completed + m.failed < j.expected_steps THEN j.status WHEN m.failed > 0 THEN 2 ELSE 1 END
    FROM m, pawl.outbox_join before
   WHERE j.join_id = @join_id AND before.join_id = @join_id AND m.completed + m.failed <= j.expected_steps
     AND (m.completed <> j.completed_steps OR m.failed <> j.failed_steps OR j.status = 0 AND m.completed + m.failed = j.expected_steps)
  RETURNING j.join_id, before.status = 0 AND j.status <> 0 AS ended),
c AS MATERIALIZED (
  SELECT count(*) AS n, pg_catalog.array_agg(u.join_id) FILTER (WHERE u.ended) AS ended FROM u)
SELECT pawl.audit_note(@note_id, @note_actor, 'fix', @note_target, @note_reason, c.n) FROM c, LATERAL pawl.outbox_join_wake(c.ended)
