-- Where a list of messages that looks at so many stops: no row if there are no more. $1 below this id, $2 how many.
SELECT id FROM pawl.outbox_message WHERE id < $1 ORDER BY id DESC LIMIT 1 OFFSET $2::bigint - 1
