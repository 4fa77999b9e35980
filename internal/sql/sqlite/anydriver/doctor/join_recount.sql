-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
UPDATE pawl.outbox_join AS j SET completed_steps = m.completed, failed_steps = m.failed, last_updated_utc = CASE WHEN j.status = 0 THEN @now ELSE j.last_updated_utc END,
  status = CASE WHEN j.status <> 0 OR m.completed + m.failed < j.expected_steps THEN j.status WHEN m.failed > 0 THEN 2 ELSE 1 END
  FROM (SELECT count(*) FILTER (WHERE x.status = 1) AS completed, count(*) FILTER (WHERE x.status = 2) AS failed
          FROM pawl.outbox_join_member x WHERE x.join_id = @join_id) m
 WHERE j.join_id = @join_id AND m.completed + m.failed <= j.expected_steps
   AND (m.completed <> j.completed_steps OR m.failed <> j.failed_steps OR j.status = 0 AND m.completed + m.failed = j.expected_steps)
