SET NOCOUNT ON;
DECLARE @GOT int, @WAS int, @IS int, @WELL int, @ILL int, @OVER nvarchar(100);
SELECT @WELL = coalesce(SUM(CASE WHEN x.status = 1 THEN 1 ELSE 0 END), 0), @ILL = coalesce(SUM(CASE WHEN x.status = 2 THEN 1 ELSE 0 END), 0)
  FROM pawl.outbox_join_member x WHERE x.join_id = @join_id;
SELECT @WAS = j.status FROM pawl.outbox_join j WHERE j.join_id = @join_id;
UPDATE pawl.outbox_join
   SET completed_steps = @WELL, failed_steps = @ILL, last_updated_utc = CASE WHEN status = 0 THEN @now ELSE last_updated_utc END,
       status = CASE WHEN status <> 0 OR @WELL + @ILL < expected_steps THEN status WHEN @ILL > 0 THEN 2 ELSE 1 END
 WHERE join_id = @join_id AND @WELL + @ILL <= expected_steps
   AND (completed_steps <> @WELL OR failed_steps <> @ILL OR status = 0 AND @WELL + @ILL = expected_steps);
SET @GOT = @@ROWCOUNT;
SELECT @IS = j.status FROM pawl.outbox_join j WHERE j.join_id = @join_id;
IF @GOT > 0 AND @WAS = 0 AND @IS <> 0
BEGIN
  SET @OVER = CONCAT(N'["', @join_id, N'"]');
  EXEC pawl.outbox_join_wake @OVER;
END;
EXEC pawl.audit_note @note_id, @note_actor, N'fix', @note_target, @note_reason, @GOT;
SELECT CAST(@GOT AS bigint) AS n
