-- ignores @queued_as, @note_id, @note_actor, @note_target, @note_reason: the queue and the audit trail are Go's
UPDATE pawl.inbox SET status = 'Seen', attempts = 0 WHERE source = @source AND message_id = @message_id AND status = 'Dead'
