SELECT pawl.act_redrive(o_ids, @note_id, @note_actor, @note_target, @note_reason) AS n, o_last AS last, pawl.failed_steps(o_ids) AS ended
  FROM pawl.outbox_dead_pick(@ids, @topic, @queue, @error, @since, @before, @after, @look, @most, @fingerprint, @discarded, @act)
