-- under_limit(queue, topic)
-- Only the index is read, and what somebody is setting or removing is passed over: nobody waits
-- for that, nor for a claim.
EXISTS (SELECT 1 FROM pawl.outbox_limit f WITH (READPAST, READCOMMITTEDLOCK, INDEX (name))
         WHERE f.kind = N'queue' AND pawl.exactly(f.name, {queue}) OR f.kind = N'topic' AND pawl.exactly(f.name, {topic}) OR f.kind = N'each' AND pawl.falls_under(f.name, {topic}))
