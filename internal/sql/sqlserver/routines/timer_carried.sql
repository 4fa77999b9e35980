-- Where an id, if pawl made it, says that its timer lies.
CREATE FUNCTION pawl.timer_carried(@timer uniqueidentifier) RETURNS bigint AS
BEGIN
RETURN CAST(SUBSTRING(CAST(@timer AS binary(16)), 11, 6) AS bigint);
END
