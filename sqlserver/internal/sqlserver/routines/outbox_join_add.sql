-- Add to the counters of a join whose lock is held. The last step ends it.
CREATE PROCEDURE pawl.outbox_join_add @join uniqueidentifier, @completed int, @failed int AS
BEGIN
SET NOCOUNT ON;
DECLARE @seq bigint, @status smallint, @over nvarchar(100);
SELECT @seq = j.seq FROM pawl.outbox_join j WITH (FORCESEEK) WHERE j.join_id = @join;
UPDATE pawl.outbox_join
   SET completed_steps = completed_steps + @completed, failed_steps = failed_steps + @failed, last_updated_utc = SYSUTCDATETIME(),
       status = CASE WHEN completed_steps + @completed + failed_steps + @failed < expected_steps THEN 0 WHEN failed_steps + @failed > 0 THEN 2 ELSE 1 END
 WHERE seq = @seq;
SELECT @status = j.status FROM pawl.outbox_join j WHERE j.seq = @seq;
IF @status <> 0
BEGIN
  SET @over = CONCAT(N'["', @join, N'"]');
  EXEC pawl.outbox_join_wake @over;
END;
END
