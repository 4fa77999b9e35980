-- An id taken by another lane is an error: only a conflict with the same lane is ignored.
INSERT INTO pawl.outbox_lane (id, queue, priority, kind) VALUES (@id, @queue, @priority, @kind) ON CONFLICT (queue, kind, priority, topic) DO NOTHING
