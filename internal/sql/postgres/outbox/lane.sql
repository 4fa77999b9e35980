-- No conflict target: of two sessions that register a lane at once the second may conflict
-- with either key first.
INSERT INTO pawl.outbox_lane (id, queue, priority, kind) VALUES (@id, @queue, @priority, @kind) ON CONFLICT DO NOTHING
