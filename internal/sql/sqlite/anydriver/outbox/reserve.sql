-- The last inserted rowid is the last of the ids. They are above all that are used, also
-- where the sequence is behind those.
INSERT OR REPLACE INTO pawl.outbox_sequence (last, one)
SELECT max(last, coalesce((SELECT max(id) FROM pawl.outbox_message), 0), coalesce((SELECT max(id) FROM pawl.timer), 0),
           coalesce((SELECT max(id) FROM pawl.job_run), 0)) + @n, 1 FROM pawl.outbox_sequence
