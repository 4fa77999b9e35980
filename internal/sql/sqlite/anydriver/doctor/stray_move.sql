UPDATE pawl.outbox_ready SET lane = (SELECT m.lane FROM pawl.outbox_message m WHERE m.id = @id)
 WHERE lo = @id AND lane IN (SELECT l.id FROM pawl.outbox_lane l WHERE l.kind = 2) AND EXISTS (SELECT 1 FROM pawl.outbox_message m WHERE m.id = @id)
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_order o WHERE o.id = @id)
