WITH topic AS (
  UPDATE pawl.outbox_pause SET ending = true WHERE kind = @kind AND name = @name AND kind = 'topic' RETURNING 1),
queue AS (
  DELETE FROM pawl.outbox_pause WHERE kind = @kind AND name = @name AND kind = 'queue' RETURNING name)
SELECT pawl.audit_note(@note_id, @note_actor, 'resume', @note_target, @note_reason, (SELECT count(*) FROM topic) + (SELECT count(*) FROM queue WHERE pawl.outbox_wake(ARRAY[queue.name])))
