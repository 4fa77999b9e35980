-- ignores @join_id: they are counted in all their joins
SET NOCOUNT ON;
DECLARE @SPANS nvarchar(max);
SET @SPANS = (SELECT x.id AS lo, 1 AS n FROM OPENJSON(@missed) WITH (id bigint) x ORDER BY x.id FOR JSON PATH);
EXEC pawl.outbox_join_settle @SPANS;
EXEC pawl.audit_note @note_id, @note_actor, N'fix', @note_target, @note_reason, 1;
SET NOCOUNT OFF;
pawl.changed(1)
