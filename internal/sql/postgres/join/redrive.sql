WITH j AS (
  UPDATE pawl.outbox_join SET status = 0, deadline_utc = CASE WHEN deadline_utc > @now THEN deadline_utc END, last_updated_utc = @now
   WHERE join_id = @join_id AND status = 2 RETURNING join_id),
w AS (
  UPDATE pawl.outbox_join_wait w SET replaced = true FROM j WHERE w.join_id = j.join_id)
SELECT pawl.audit_note(@note_id, @note_actor, 'redrive', @note_target, @note_reason, 1) FROM j
