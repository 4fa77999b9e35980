INSERT INTO pawl.outbox_lane (id, queue, priority, kind, topic) VALUES (@id, @queue, @priority, 3, @topic) ON CONFLICT (queue, kind, priority, topic) DO NOTHING
