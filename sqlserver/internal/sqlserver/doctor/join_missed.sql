SELECT pawl.columns(m) FROM pawl.outbox_join_member m
 WHERE m.join_id = @join_id AND m.status = 0 AND EXISTS (SELECT 1 FROM pawl.outbox_join j WHERE j.join_id = @join_id AND j.status = 0)
   AND pawl.settled(m.id)
 ORDER BY m.id pawl.limit(@most)
