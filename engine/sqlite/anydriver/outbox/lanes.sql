-- The known lanes: id, queue, priority.
SELECT id, queue, priority FROM pawl.outbox_lane
