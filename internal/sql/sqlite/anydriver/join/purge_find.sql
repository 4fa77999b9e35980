SELECT x.join_id FROM (SELECT join_id, last_updated_utc FROM pawl.outbox_join WHERE status = @status ORDER BY join_id LIMIT @most) x
 WHERE x.last_updated_utc < @now - @age
   AND NOT EXISTS (SELECT 1 FROM pawl.outbox_join_wait w JOIN pawl.outbox_item i ON i.id = w.id WHERE w.join_id = x.join_id AND i.status < 2)
