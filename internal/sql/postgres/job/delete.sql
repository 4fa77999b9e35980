SELECT pawl.act_job_remove(@name, @note_id, @note_actor, @note_target, @note_reason)
