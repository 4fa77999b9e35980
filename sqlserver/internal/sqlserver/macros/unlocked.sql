-- unlocked()
-- Behind a table that is only looked at: rows that somebody has locked are passed over, as
-- row versions would show them. Without those an open transaction that enqueues, say, would
-- keep everybody waiting who asks how things are.
WITH (READPAST, READCOMMITTEDLOCK)
