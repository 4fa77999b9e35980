-- flow_lock(id)
-- Lets no other transaction park a flow, or send it a signal, until this one ends.
SET @lock = CONCAT(N'pawl.flow/', {id});
EXEC sys.sp_getapplock @Resource = @lock, @LockMode = N'Exclusive', @LockOwner = N'Transaction';
