WITH gone AS (
  DELETE FROM pawl.outbox_limit l WHERE l.kind = @kind AND l.name = @name RETURNING 1),
held AS (
  DELETE FROM pawl.outbox_limit_claim u WHERE u.kind = @kind AND u.name = @name),
woken AS (
  SELECT count(*) AS n FROM pawl.queues_under(@kind, @name) q WHERE pawl.wake(q.queue))
SELECT pawl.audit_note(@note_id, @note_actor, 'unlimit', @note_target, @note_reason, (SELECT count(*) FROM gone)) FROM woken
