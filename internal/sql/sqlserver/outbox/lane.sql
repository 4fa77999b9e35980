DECLARE @GOT int;
EXEC @GOT = pawl.outbox_lane_put @id, @queue, @priority;
SET NOCOUNT OFF;
pawl.changed(@GOT)
