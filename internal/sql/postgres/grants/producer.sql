-- A producer enqueues: messages, timers, joins with their waits, messages of the
-- inbox; and takes back or moves the timers it knows the id of. It reads no payload, no
-- header, no error, and takes nothing out of a queue.
GRANT USAGE ON SCHEMA pawl TO :"role";
GRANT SELECT ON pawl.pawl_schema, pawl.pawl_object, pawl.move TO :"role";
GRANT SELECT (one, id) ON pawl.generation TO :"role";
GRANT USAGE ON SEQUENCE pawl.outbox_block, pawl.outbox_single TO :"role";
GRANT SELECT, INSERT ON pawl.outbox_lane TO :"role";
GRANT INSERT, SELECT (id, message_id, supplied, lane, due_at) ON pawl.outbox_message TO :"role";
GRANT INSERT ON pawl.outbox_ready TO :"role";
GRANT INSERT, SELECT (join_id, status, expected_steps, completed_steps, failed_steps) ON pawl.outbox_join TO :"role";
GRANT INSERT ON pawl.outbox_join_member, pawl.outbox_join_wait TO :"role";
GRANT INSERT, SELECT (id, timer_id, supplied, key, status, at), UPDATE (status, processed_at, key, due_time, at) ON pawl.timer TO :"role";
GRANT INSERT, SELECT (source, message_id, hash, status, token, locked_until_utc, deliveries, mismatches), UPDATE (hash, last_seen_utc, deliveries, mismatches) ON pawl.inbox TO :"role";
GRANT EXECUTE ON ROUTINE
  pawl.check_attempts, pawl.check_blank, pawl.check_bytes, pawl.check_claim, pawl.check_delay, pawl.check_due, pawl.check_duration, pawl.check_error, pawl.check_headers,
  pawl.check_id, pawl.check_isolation, pawl.check_lease, pawl.check_message, pawl.check_null, pawl.check_order, pawl.check_payload, pawl.check_refuse, pawl.check_text,
  pawl.outbox_enqueue(text, text, text, timestamptz, uuid, jsonb, text, integer), pawl.outbox_enqueue(text, jsonb, text, timestamptz, uuid, jsonb, text, integer),
  pawl.outbox_enqueue_unique(text, text, text, text, double precision, boolean, boolean, timestamptz, text, integer, text, jsonb),
  pawl.outbox_enqueue_unique(text, jsonb, text, text, double precision, boolean, boolean, timestamptz, text, integer, text, jsonb), pawl.outbox_enqueue_keyed,
  pawl.outbox_enqueue_once, pawl.outbox_block, pawl.outbox_waiting, pawl.generation_look, pawl.outbox_lane_id, pawl.outbox_message_id, pawl.outbox_position, pawl.outbox_wake,
  pawl.outbox_ordering_key, pawl.outbox_group_at, pawl.outbox_join_start, pawl.outbox_join_new_id, pawl.outbox_join_attach, pawl.outbox_join_attach_all, pawl.outbox_join_wait, pawl.outbox_join_known,
  pawl.timer_schedule, pawl.timer_schedule_rows, pawl.timer_due, pawl.timer_carried, pawl.timer_position, pawl.timer_wake, pawl.timer_cancel, pawl.timer_cancel_key, pawl.timer_cancel_row, pawl.timer_reschedule, pawl.timer_move,
  pawl.flow_send, pawl.flow_put_signal, pawl.inbox_see, pawl.inbox_enqueue, pawl.inbox_message_id, pawl.audit_note, pawl.audit_own
  TO :"role";
