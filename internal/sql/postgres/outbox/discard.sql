SELECT pawl.audit_note(@note_id, @note_actor, 'discard', @note_target, @note_reason, CASE WHEN pg_catalog.cardinality(o_ids) > 0 THEN pawl.outbox_discard(o_ids) ELSE 0 END) AS n, o_last AS last, pawl.failed_steps(o_ids) AS ended
  FROM pawl.outbox_dead_pick(@ids, @topic, @queue, @error, @since, @before, @after, @look, @most)
