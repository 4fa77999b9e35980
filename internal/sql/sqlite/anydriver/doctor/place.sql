-- ignores @note_id, @note_actor, @note_target, @note_reason: the audit trail is Go's
INSERT INTO pawl.outbox_ready (lane, at, lo, n, retry)
SELECT m.lane, coalesce(m.due_at, @now), m.id, 1, coalesce((SELECT e.retry_count FROM pawl.outbox_exception e WHERE e.id = m.id), 0)
  FROM pawl.outbox_message m WHERE m.id = @id AND pawl.nowhere(m.id)
