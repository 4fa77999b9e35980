SET NOCOUNT ON;
DECLARE @GOT int, @OVER nvarchar(max);
DECLARE @PAST TABLE (id uniqueidentifier NOT NULL);
INSERT INTO @PAST (id) SELECT j.join_id FROM pawl.outbox_join j WHERE j.status <> 0 AND j.join_id IN (SELECT CAST(x.value AS uniqueidentifier) FROM OPENJSON(@join_ids) x);
SET @GOT = @@ROWCOUNT;
SET @OVER = REPLACE(REPLACE((SELECT p.id FROM @PAST p FOR JSON PATH), N'{"id":', N''), N'}', N'');
EXEC pawl.outbox_join_wake @OVER;
EXEC pawl.audit_note @note_id, @note_actor, N'fix', @note_target, @note_reason, @GOT;
SET NOCOUNT OFF;
pawl.changed(1)
