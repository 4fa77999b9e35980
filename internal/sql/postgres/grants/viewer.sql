-- A viewer reads everything, payloads included, and changes nothing.
GRANT USAGE ON SCHEMA pawl TO :"role";
GRANT SELECT ON
  pawl.pawl_schema, pawl.pawl_object, pawl.outbox_block, pawl.outbox_single, pawl.outbox_attempt_nr_seq, pawl.lease_waiter_ticket_seq, pawl.outbox_lane, pawl.outbox_message, pawl.outbox_ready, pawl.outbox_claim, pawl.outbox_done, pawl.outbox_exception,
  pawl.outbox_attempt, pawl.outbox_order, pawl.outbox_unique, pawl.outbox_limit, pawl.outbox_limit_claim, pawl.outbox_join, pawl.outbox_join_member, pawl.outbox_join_wait, pawl.outbox_join_result, pawl.outbox_result, pawl.flow_step, pawl.flow_signal, pawl.flow_wait, pawl.outbox_stopping, pawl.outbox_pause, pawl.outbox_bulk, pawl.inbox, pawl.timer, pawl.job, pawl.job_run, pawl.lease, pawl.lease_waiter,
  pawl.worker_process, pawl.activity, pawl.declared, pawl.audit_trail, pawl.generation, pawl.move, pawl.move_table, pawl.outbox_item, pawl.outbox, pawl.timers, pawl.jobs, pawl.job_runs, pawl.job_run_item, pawl.outbox_joins, pawl.outbox_join_members,
  pawl.leases, pawl.inbox_messages TO :"role";
GRANT EXECUTE ON ROUTINE pawl.outbox_text, pawl.outbox_headers, pawl.generation_look, pawl.outbox_orphans, pawl.outbox_dead_pick, pawl.outbox_position, pawl.timer_position, pawl.timer_carried, pawl.lease_ahead TO :"role";
