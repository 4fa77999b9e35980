WITH c AS (
  UPDATE pawl.timer SET status = 4, processed_at = @now WHERE id = pawl.whereabouts(@timer_id, @carried) AND status = 0 RETURNING 1)
SELECT pawl.audit_note(@note_id, @note_actor, 'cancel', @note_target, @note_reason, 1) FROM c
