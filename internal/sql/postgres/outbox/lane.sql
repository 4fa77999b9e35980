-- No conflict target: of two sessions that register a lane at once the second may conflict
-- with either key first.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES (@id, @queue, @priority) ON CONFLICT DO NOTHING
