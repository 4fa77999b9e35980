-- lowest: 5
-- What a process measures of itself: by how many microseconds its clock is ahead of the database's, and
-- how many callers waited for one of how many connections of its pool, on average since the heartbeat before.
ALTER TABLE pawl.worker_process ADD COLUMN clock_ahead INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pawl.worker_process ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pawl.worker_process ADD COLUMN connections INTEGER NOT NULL DEFAULT 0;
