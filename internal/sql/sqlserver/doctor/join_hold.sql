SET NOCOUNT ON;
DECLARE @ALL nvarchar(max), @OVER nvarchar(max), @GONE bigint;
SET @ALL = REPLACE(REPLACE((SELECT x.id FROM OPENJSON(@missed) WITH (id bigint) x FOR JSON PATH), N'{"id":', N''), N'}', N'');
EXEC pawl.outbox_hold @ALL, @OVER OUTPUT, @GONE OUTPUT;
SET NOCOUNT OFF;
pawl.changed(1)
