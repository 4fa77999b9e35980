SELECT pawl.act_pause(@kind, @name, @lane, @reason, @note_id, @note_actor, @note_target, @note_reason)
