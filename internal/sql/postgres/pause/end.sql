SELECT pawl.act_resume(@kind, @name, @note_id, @note_actor, @note_target, @note_reason)
