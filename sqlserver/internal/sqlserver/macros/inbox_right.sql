-- inbox_right(wait)
-- The right to decide about the message @message_id of @source, until the transaction ends:
-- @got says whether that was to be had within so many milliseconds (-1: any time). Names of locks
-- are cut at 255 characters, and may be compared without regard to case: hence the digest.
SET @lock = CONCAT(CAST(HASHBYTES(N'MD5', CONCAT(DATALENGTH(@source), N'/', @source, @message_id)) AS uniqueidentifier), N'/pawl.inbox');
EXEC @got = sys.sp_getapplock @Resource = @lock, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = {wait};
IF @got = -3 THROW 57102, 'chosen as the victim of a deadlock', 1;
