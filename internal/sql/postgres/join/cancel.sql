SELECT 1 FROM generate_series(1, pawl.act_join_cancel(@join_id, @note_id, @note_actor, @note_target, @note_reason))
