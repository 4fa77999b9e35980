-- Make a lane known. ?1 now, ?2 id, ?3 queue, ?4 priority.
-- Runs in a caller's transaction. An id taken by another lane is an error, not
-- a silent mix-up: only the same lane is let pass.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (?2, ?3, ?4) ON CONFLICT (queue, priority) DO NOTHING
