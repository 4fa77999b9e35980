SELECT pawl.act_unlimit(@kind, @name, @note_id, @note_actor, @note_target, @note_reason)
