-- Make a lane known. $1 id, $2 queue, $3 priority. Runs in a caller's transaction.
INSERT INTO pawl.outbox_lane (id, queue, priority) VALUES ($1, $2, $3) ON CONFLICT (queue, priority) DO NOTHING
