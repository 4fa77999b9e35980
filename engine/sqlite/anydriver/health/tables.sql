-- Tables of pawl that are not there. The list of migrations says what was made, not
-- what somebody dropped since. ?1 now.
SELECT column1 FROM (VALUES
  ('pawl.audit_trail'),
  ('pawl.inbox_base'),
  ('pawl.job'),
  ('pawl.job_run'),
  ('pawl.lease_row'),
  ('pawl.lease_waiter'),
  ('pawl.outbox_claim'),
  ('pawl.outbox_done'),
  ('pawl.outbox_exception'),
  ('pawl.outbox_join_base'),
  ('pawl.outbox_join_member_base'),
  ('pawl.outbox_join_wait'),
  ('pawl.outbox_lane'),
  ('pawl.outbox_message'),
  ('pawl.outbox_pause'),
  ('pawl.outbox_ready'),
  ('pawl.outbox_sequence'),
  ('pawl.timer'),
  ('pawl.worker_process')
) WHERE trim(column1, '"') NOT IN (SELECT name FROM sqlite_schema WHERE type = 'table') AND ?1 > 0 ORDER BY column1
