-- claimed_now(id)
-- Is the message claimed? No claim is of more than 1000 messages: without that bound a check of one that
-- ended reads every entry that was deleted below it (16 million for a limit of 10 000).
coalesce((SELECT h.lo + h.n FROM pawl.outbox_claim h WHERE h.lo > {id} - 1000 AND h.lo <= {id} ORDER BY h.lo DESC LIMIT 1), 0) > {id}
