-- Attach messages, a JSON array with id and message_id, that this transaction enqueued:
-- nobody else can know them. Returns how many.
CREATE PROCEDURE pawl.outbox_join_attach_new @join uniqueidentifier, @members nvarchar(max) AS
BEGIN
DECLARE @got int = 0, @some int = 1, @after bigint = 0;
DECLARE @new TABLE (id bigint NOT NULL PRIMARY KEY, message_id uniqueidentifier NOT NULL);
pawl.begin_own()
INSERT INTO @new (id, message_id) SELECT x.id, x.message_id FROM OPENJSON(@members) WITH (id bigint, message_id uniqueidentifier) x;
WHILE @some > 0
BEGIN
  INSERT INTO pawl.outbox_join_member (join_id, id, outbox_message_id)
  SELECT TOP (1000) @join, x.id, x.message_id FROM @new x WHERE x.id > @after ORDER BY x.id;
  SET @some = @@ROWCOUNT;
  SET @got = @got + @some;
  SELECT @after = MAX(x.id) FROM (SELECT TOP (1000) n.id FROM @new n WHERE n.id > @after ORDER BY n.id) x;
END;
pawl.end_own()
RETURN @got;
END
