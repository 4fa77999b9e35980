-- Remove the head of a lane up to and including (?3 at, ?4 lo). Under the write
-- lock the rows just read are exactly this head, suspects left out. ?2 lane.
DELETE FROM pawl.outbox_ready WHERE lane = ?2 AND (at < ?3 OR (at = ?3 AND lo <= ?4)) AND suspect = 0
