-- Hold a join until the transaction ends, so that nobody forgets it meanwhile. Returns 1, or
-- 0 for an unknown one. The lock is on its key in the index alone: who counts steps
-- changes the row, and passes.
CREATE PROCEDURE pawl.outbox_join_known @join uniqueidentifier AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint;
SELECT @seq = j.seq FROM pawl.outbox_join j WITH (REPEATABLEREAD, ROWLOCK, FORCESEEK) WHERE j.join_id = @join;
IF @seq IS NULL RETURN 0;
RETURN 1;
END
