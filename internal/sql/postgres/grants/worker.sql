-- A worker does all that pawl.Run and the components do: enqueue, claim, settle,
-- schedule, take leases, work off bulk acts, clean up. It does not pause, start or stop
-- bulk acts, change the audit trail or the schema.
GRANT USAGE ON SCHEMA pawl TO :"role";
GRANT USAGE ON SEQUENCE pawl.outbox_block, pawl.outbox_single, pawl.outbox_attempt_nr_seq, pawl.lease_waiter_ticket_seq TO :"role";
GRANT SELECT (one, id) ON pawl.generation TO :"role";
GRANT SELECT ON pawl.pawl_schema, pawl.pawl_object, pawl.move, pawl.outbox_item, pawl.outbox, pawl.timers, pawl.jobs, pawl.job_runs, pawl.job_run_item, pawl.outbox_joins, pawl.outbox_join_members,
  pawl.leases, pawl.inbox_messages TO :"role";
GRANT SELECT, INSERT, UPDATE (asked) ON pawl.outbox_lane TO :"role";
GRANT SELECT, INSERT, DELETE ON pawl.outbox_message TO :"role";
GRANT SELECT, INSERT, UPDATE, DELETE ON
  pawl.outbox_ready, pawl.outbox_claim, pawl.outbox_done, pawl.outbox_exception, pawl.outbox_attempt, pawl.outbox_order, pawl.outbox_unique, pawl.outbox_limit_claim,
  pawl.outbox_join, pawl.outbox_join_member, pawl.outbox_join_wait, pawl.outbox_join_result, pawl.outbox_result, pawl.flow_step, pawl.flow_signal, pawl.flow_wait, pawl.outbox_stopping,
  pawl.inbox, pawl.timer, pawl.job, pawl.job_run, pawl.lease, pawl.lease_waiter, pawl.worker_process, pawl.activity, pawl.declared TO :"role";
GRANT SELECT, DELETE ON pawl.outbox_bulk TO :"role";
GRANT SELECT, UPDATE (next_at) ON pawl.outbox_limit TO :"role";
GRANT SELECT ON pawl.outbox_pause TO :"role";
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA pawl TO :"role";
REVOKE EXECUTE ON FUNCTION pawl.act_pause, pawl.act_resume, pawl.act_limit, pawl.act_unlimit FROM :"role";
