DECLARE @GOT int;
EXEC @GOT = pawl.outbox_lane_put @id, @queue, @priority, @kind;
SET NOCOUNT OFF;
pawl.changed(@GOT)
