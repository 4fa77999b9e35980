SET NOCOUNT ON;
DECLARE @OVER nvarchar(max), @GONE bigint;
EXEC pawl.outbox_hold @missed, @OVER OUTPUT, @GONE OUTPUT;
SET NOCOUNT OFF;
pawl.changed(1)
