-- An id taken by another lane is an error: only a conflict with the same lane is ignored.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (@id, @queue, @priority) ON CONFLICT (queue, priority) DO NOTHING
