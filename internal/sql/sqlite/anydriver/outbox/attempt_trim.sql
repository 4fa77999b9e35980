DELETE FROM pawl.outbox_attempt
 WHERE id = @id AND nr <= (SELECT a.nr FROM pawl.outbox_attempt a WHERE a.id = @id ORDER BY a.nr DESC LIMIT 1 OFFSET @keep)
