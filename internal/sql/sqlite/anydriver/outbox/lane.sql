-- An id taken by another lane is an error, not a silent mix-up: only the same lane is
-- let pass.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (@id, @queue, @priority) ON CONFLICT (queue, priority) DO NOTHING
