SELECT pawl.act_limit(@kind, @name, @concurrency, @rate, @period, @burst, @reason, @note_id, @note_actor, @note_target, @note_reason)
