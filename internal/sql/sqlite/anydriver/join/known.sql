-- An update that changes nothing, because in a caller's transaction only the number of rows
-- affected can be read. There is one writer, so the join stays.
UPDATE pawl.outbox_join SET status = status WHERE join_id = @join_id
