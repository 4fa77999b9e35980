-- Attach messages that this transaction enqueued: nobody else can know them.
-- $1 join, $2 positions, $3 message ids. Runs in a caller's transaction.
INSERT INTO pawl.outbox_join_member (join_id, id, outbox_message_id) SELECT $1::uuid, u.id, u.message FROM unnest($2::int8[], $3::uuid[]) u(id, message)
