-- A producer enqueues: messages, timers, joins with their waits, messages of the inbox; and
-- takes back or moves the timers it knows the id of. It executes procedures: it reads no
-- payload, no header, no error, and takes nothing out of a queue.
GRANT EXECUTE ON TYPE::pawl.outbox_message_list TO [$(role)];
GRANT EXECUTE ON TYPE::pawl.timer_list TO [$(role)];
GRANT EXECUTE ON pawl.audit_note TO [$(role)];
GRANT EXECUTE ON pawl.flow_put_signal TO [$(role)];
GRANT EXECUTE ON pawl.flow_send TO [$(role)];
GRANT EXECUTE ON pawl.generation_look TO [$(role)];
GRANT EXECUTE ON pawl.inbox_enqueue TO [$(role)];
GRANT EXECUTE ON pawl.inbox_see TO [$(role)];
GRANT EXECUTE ON pawl.outbox_enqueue TO [$(role)];
GRANT EXECUTE ON pawl.outbox_enqueue_keyed TO [$(role)];
GRANT EXECUTE ON pawl.outbox_enqueue_once TO [$(role)];
GRANT EXECUTE ON pawl.outbox_enqueue_runs TO [$(role)];
GRANT EXECUTE ON pawl.outbox_enqueue_unique TO [$(role)];
GRANT EXECUTE ON pawl.outbox_join_attach TO [$(role)];
GRANT EXECUTE ON pawl.outbox_join_attach_all TO [$(role)];
GRANT EXECUTE ON pawl.outbox_join_attach_new TO [$(role)];
GRANT EXECUTE ON pawl.outbox_join_put TO [$(role)];
GRANT EXECUTE ON pawl.outbox_join_start TO [$(role)];
GRANT EXECUTE ON pawl.outbox_join_wait TO [$(role)];
GRANT EXECUTE ON pawl.outbox_join_wait_put TO [$(role)];
GRANT EXECUTE ON pawl.outbox_lane_put TO [$(role)];
GRANT EXECUTE ON pawl.outbox_next_block TO [$(role)];
GRANT EXECUTE ON pawl.outbox_position TO [$(role)];
GRANT EXECUTE ON pawl.timer_cancel TO [$(role)];
GRANT EXECUTE ON pawl.timer_cancel_at TO [$(role)];
GRANT EXECUTE ON pawl.timer_cancel_key TO [$(role)];
GRANT EXECUTE ON pawl.timer_cancel_row TO [$(role)];
GRANT EXECUTE ON pawl.timer_move TO [$(role)];
GRANT EXECUTE ON pawl.timer_reschedule TO [$(role)];
GRANT EXECUTE ON pawl.timer_schedule TO [$(role)];
GRANT EXECUTE ON pawl.timer_schedule_rows TO [$(role)];
GRANT SELECT ON pawl.pawl_object TO [$(role)];
GRANT SELECT ON pawl.pawl_schema TO [$(role)];
GRANT UPDATE ON pawl.outbox_block TO [$(role)];
