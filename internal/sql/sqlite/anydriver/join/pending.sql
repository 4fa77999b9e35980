SELECT DISTINCT m.join_id FROM pawl.outbox_join_member m INDEXED BY pawl.outbox_join_member_place
  JOIN pawl.outbox_join j ON j.join_id = m.join_id AND j.status = 0
 WHERE m.status = 0 AND m.id >= @lo AND m.id < @end
