-- End the pause of a queue. ?1 now, ?2 kind, ?3 name.
DELETE FROM pawl.outbox_pause WHERE kind = ?2 AND kind = 'queue' AND name = ?3
