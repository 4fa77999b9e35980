-- Tables of pawl that are not there. The list of migrations says what was made, not
-- what somebody dropped since.
SELECT t.name FROM pg_catalog.unnest(ARRAY[
  'pawl.audit_trail',
  'pawl.inbox',
  'pawl.job',
  'pawl.job_run',
  'pawl.lease',
  'pawl.lease_waiter',
  'pawl.outbox_claim',
  'pawl.outbox_done',
  'pawl.outbox_exception',
  'pawl.outbox_join',
  'pawl.outbox_join_member',
  'pawl.outbox_join_wait',
  'pawl.outbox_lane',
  'pawl.outbox_message',
  'pawl.outbox_pause',
  'pawl.outbox_ready',
  'pawl.timer',
  'pawl.worker_process'
]) t(name) WHERE to_regclass(t.name) IS NULL ORDER BY t.name
