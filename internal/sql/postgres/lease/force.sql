SELECT 1 FROM generate_series(1, pawl.act_release(@name, @note_id, @note_actor, @note_target, @note_reason))
