SELECT pawl.act_reschedule(@ids, coalesce(@due, clock_timestamp()), @note_id, @note_actor, @note_target, @note_reason)
