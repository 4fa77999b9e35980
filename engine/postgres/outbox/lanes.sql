-- The known lanes: id, queue, priority.
SELECT id, queue, priority::int8 FROM pawl.outbox_lane
