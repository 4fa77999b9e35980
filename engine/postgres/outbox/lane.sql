-- Make a lane known. $1 id, $2 queue, $3 priority. Runs in a caller's transaction.
-- No conflict target: of two sessions that register a lane at once the second
-- may meet either of its keys first.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
