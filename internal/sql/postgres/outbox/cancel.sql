SELECT pawl.act_cancel(@ids, @reason, @note_id, @note_actor, @note_target, @note_reason)
