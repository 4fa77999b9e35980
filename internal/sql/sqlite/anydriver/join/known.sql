-- A caller's transaction lets us see nothing but rows affected: hence the update of
-- nothing. There is one writer, so the join stays.
UPDATE pawl.outbox_join SET status = status WHERE join_id = @join_id
