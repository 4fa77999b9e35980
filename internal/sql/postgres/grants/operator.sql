-- An operator reads everything, and does what pawl's commands for people do: pause,
-- resume, retry, discard, cancel, reschedule; jobs; timers; joins; leases by force;
-- revive. It claims and settles nothing, and the audit trail can only be added to.
-- It may enqueue: a triggered job is a message.
GRANT USAGE ON SCHEMA pawl TO :"role";
GRANT USAGE, SELECT ON SEQUENCE pawl.outbox_block, pawl.outbox_single TO :"role";
GRANT SELECT (one, id) ON pawl.generation TO :"role";
GRANT SELECT ON
  pawl.pawl_schema, pawl.pawl_object, pawl.move, pawl.move_table, pawl.outbox_lane, pawl.outbox_message, pawl.outbox_ready, pawl.outbox_claim, pawl.outbox_done, pawl.outbox_exception,
  pawl.outbox_attempt, pawl.outbox_order, pawl.outbox_unique, pawl.outbox_limit, pawl.outbox_limit_claim, pawl.outbox_join, pawl.outbox_join_member, pawl.outbox_join_wait, pawl.outbox_join_result, pawl.outbox_result, pawl.flow_step, pawl.flow_signal, pawl.flow_wait, pawl.outbox_stopping, pawl.outbox_pause, pawl.outbox_bulk, pawl.inbox, pawl.timer, pawl.job, pawl.job_run, pawl.lease, pawl.lease_waiter,
  pawl.worker_process, pawl.activity, pawl.declared, pawl.audit_trail, pawl.outbox_item, pawl.outbox, pawl.timers, pawl.jobs, pawl.job_runs, pawl.job_run_item, pawl.outbox_joins, pawl.outbox_join_members,
  pawl.leases, pawl.inbox_messages TO :"role";
GRANT INSERT ON pawl.outbox_lane, pawl.outbox_message, pawl.outbox_ready, pawl.job_run TO :"role";
GRANT INSERT, UPDATE ON pawl.job TO :"role";
GRANT INSERT, UPDATE (ended_at, stopped_by) ON pawl.outbox_bulk TO :"role";
GRANT UPDATE (status, failed_steps, last_updated_utc, deadline_utc) ON pawl.outbox_join TO :"role";
GRANT UPDATE (status) ON pawl.outbox_join_member TO :"role";
GRANT INSERT, UPDATE (replaced) ON pawl.outbox_join_wait TO :"role";
GRANT UPDATE (status, processed_at, due_time, at) ON pawl.timer TO :"role";
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA pawl TO :"role";
