SELECT 1 AS found FROM pawl.outbox_join_member s INDEXED BY pawl.outbox_join_member_place JOIN pawl.outbox_join j ON j.join_id = s.join_id AND j.status = 2
 WHERE s.status = 2 AND s.id = @id LIMIT 1
