-- Note where a wait of a join lies. Returns 1, or 0 if that is known.
CREATE PROCEDURE pawl.outbox_join_wait_put @join uniqueidentifier, @id bigint AS
BEGIN
SET NOCOUNT ON;
INSERT INTO pawl.outbox_join_waiting (id, join_id) SELECT @id, @join WHERE NOT EXISTS (SELECT 1 FROM pawl.outbox_join_waiting w WHERE w.id = @id);
RETURN @@ROWCOUNT;
END
