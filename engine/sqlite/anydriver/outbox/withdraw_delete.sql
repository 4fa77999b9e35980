-- Take the ready run at ?2 away.
DELETE FROM pawl.outbox_ready WHERE lo = ?2
