SELECT 1 FROM generate_series(1, pawl.act_revive(@source, @message_id, @queued_as, @note_id, @note_actor, @note_target, @note_reason))
