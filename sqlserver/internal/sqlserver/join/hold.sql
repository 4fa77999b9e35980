SET NOCOUNT ON;
EXEC pawl.outbox_join_hold @join_id, @ids;
SET NOCOUNT OFF;
pawl.changed(1)
