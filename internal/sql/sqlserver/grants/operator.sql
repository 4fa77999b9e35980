-- An operator reads everything, and does what pawl's commands for people do: pause, resume,
-- retry, discard, cancel, reschedule; jobs; timers; joins; leases by force; revive. It claims
-- and settles nothing, and the audit trail can only be added to. Procedures do it with their
-- owner's rights.
GRANT SELECT, EXECUTE ON SCHEMA::pawl TO "role";
DENY EXECUTE ON pawl.outbox_claim TO "role";
DENY EXECUTE ON pawl.outbox_claim_runs TO "role";
DENY EXECUTE ON pawl.outbox_claim_any_runs TO "role";
DENY EXECUTE ON pawl.outbox_claim_suspect_runs TO "role";
DENY EXECUTE ON pawl.outbox_ack TO "role";
DENY EXECUTE ON pawl.outbox_ack_runs TO "role";
DENY EXECUTE ON pawl.outbox_abandon TO "role";
DENY EXECUTE ON pawl.outbox_abandon_runs TO "role";
DENY EXECUTE ON pawl.outbox_fail TO "role";
DENY EXECUTE ON pawl.outbox_fail_runs TO "role";
DENY EXECUTE ON pawl.outbox_release TO "role";
DENY EXECUTE ON pawl.outbox_release_runs TO "role";
