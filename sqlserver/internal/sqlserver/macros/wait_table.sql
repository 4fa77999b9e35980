-- wait_table()
-- Not outbox_join_wait: tables and procedures share their names (error 2714).
pawl.outbox_join_waiting
