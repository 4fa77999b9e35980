-- flow_lock(id, wait)
-- Lets no other transaction park a flow, or send it a signal, until this one ends. @free is below 0 if
-- one does so, and this does not wait (0; -1: without limit).
SET @lock = CONCAT(N'pawl.flow/', {id});
EXEC @free = sys.sp_getapplock @Resource = @lock, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = {wait};
