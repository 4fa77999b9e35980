-- limits_turn(mode, wait)
-- Claims that obey limits share this until their transactions end, and whoever changes which limits
-- and lanes of limits there are has it alone: @free says whether it was to be had within so many
-- milliseconds (-1: any time).
EXEC @free = sys.sp_getapplock @Resource = N'pawl.outbox_limits', @LockMode = {mode}, @LockOwner = N'Transaction', @LockTimeout = {wait};
