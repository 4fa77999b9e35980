-- Where a list of failed or discarded ones that looks at so many stops: no row if there are no more. $1 below this id, $2 how many, $3 status.
SELECT id FROM pawl.outbox_exception WHERE status = $3 AND status >= 3 AND id < $1 ORDER BY id DESC LIMIT 1 OFFSET $2::bigint - 1
