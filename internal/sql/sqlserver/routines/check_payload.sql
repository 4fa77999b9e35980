-- Refuse a payload that is missing or too large. 1 MiB is the limit, as in Go, unless the
-- session's context pawl_sql.max_payload says how many bytes instead: see
-- sp_set_session_context.
CREATE PROCEDURE pawl.check_payload @payload nvarchar(max) AS
BEGIN
SET NOCOUNT ON;
DECLARE @bytes bigint = DATALENGTH(@payload), @most bigint = coalesce(TRY_CAST(SESSION_CONTEXT(N'pawl_sql.max_payload') AS bigint), 1048576);
IF @payload IS NULL
  EXEC pawl.check_null N'payload', 1;
IF @bytes / 2 * 3 <= @most RETURN;
SET @bytes = DATALENGTH(pawl.outbox_utf8(@payload));
EXEC pawl.check_bytes N'payload', @bytes, @most;
END
