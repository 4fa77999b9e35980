-- End the pause of a topic; what was laid aside has yet to come back. ?1 now, ?2 kind, ?3 name.
UPDATE pawl.outbox_pause SET ending = 1 WHERE kind = ?2 AND kind = 'topic' AND name = ?3
