-- A time as it is stored: UTC. One before 1970 is null for the caller, that is now: it is
-- past, whatever the year.
CREATE FUNCTION pawl.check_due(@due datetimeoffset) RETURNS datetime2(7) AS
BEGIN
DECLARE @at datetime2(7) = CAST(SWITCHOFFSET(@due, 0) AS datetime2(7));
RETURN CASE WHEN @at >= '1970-01-01' THEN @at END;
END
