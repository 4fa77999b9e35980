-- limit_turn(limit, wait)
-- A limit is changed, and what may be claimed of it found out, by one transaction at a time, until
-- that ends: @free says whether the turn was to be had within so many milliseconds (-1: any time).
-- An application lock, since one that is not to be had is no error, which could end the caller's
-- transaction, and since whoever only looks at the limit does not wait for it.
SET @lock = CONCAT({limit}, N'/pawl.outbox_limit');
EXEC @free = sys.sp_getapplock @Resource = @lock, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = {wait};
