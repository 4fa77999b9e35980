WITH r AS (
  UPDATE pawl.inbox SET status = 'Seen', attempts = 0 WHERE source = @source AND message_id = @message_id AND status = 'Dead' RETURNING 1)
SELECT pawl.outbox_redrive(ARRAY[pawl.outbox_position(@queued_as)]), pawl.audit_note(@note_id, @note_actor, 'revive', @note_target, @note_reason, 1) FROM r
