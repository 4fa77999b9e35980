-- message_at(carried, message)
-- The position of a message: the one that its id carries, or that of the message with this supplied id.
coalesce((SELECT x.id FROM pawl.outbox_message x WHERE x.id = {carried} AND x.message_id = {message}), (SELECT x.id FROM pawl.outbox_message x WHERE x.message_id = {message} AND pawl.supplied(x)))
