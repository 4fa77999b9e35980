INSERT INTO pawl.outbox_join_member (join_id, id, outbox_message_id) SELECT @join_id, u.id, u.message FROM unnest(@members.id, @members.message_id) u(id, message)
