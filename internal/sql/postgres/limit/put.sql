SELECT pawl.audit_note(@note_id, @note_actor, 'limit', @note_target, @note_reason, pawl.limit_put(@kind, @name, @concurrency, @rate, @period, @burst, @note_actor, @reason))
