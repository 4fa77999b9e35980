-- Messages with ordering keys become ready at one time always: see pawl.at_once().
INSERT INTO pawl.outbox_ready (lane, at, lo, n)
SELECT @lane, coalesce(@due_at, CASE WHEN EXISTS (SELECT 1 FROM pawl.outbox_lane l WHERE l.id = @lane AND l.kind = 1) THEN pawl.at_once() ELSE @now END), @lo, 1
