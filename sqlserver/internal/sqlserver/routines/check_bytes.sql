-- Refuse what has more than @limit bytes. Null has none.
CREATE PROCEDURE pawl.check_bytes @field nvarchar(100), @bytes bigint, @limit bigint AS
BEGIN
SET NOCOUNT ON;
DECLARE @reason nvarchar(400) = CONCAT(N'more than ', @limit, N' bytes');
IF @bytes > @limit
  EXEC pawl.check_refuse @field, @reason;
END
