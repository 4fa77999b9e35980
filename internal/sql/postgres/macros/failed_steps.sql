-- failed_steps(ids)
-- How many of these messages are failed steps of failed joins.
(SELECT count(*) FROM pg_catalog.unnest({ids}) i(id)
  WHERE EXISTS (SELECT FROM pawl.outbox_join_member s JOIN pawl.outbox_join j ON j.join_id = s.join_id AND j.status = 2 WHERE s.id = i.id AND s.status = 2))
