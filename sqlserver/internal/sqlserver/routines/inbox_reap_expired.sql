-- Put claimed messages back whose lease has run out, those of the inbox among all others.
-- Returns how many messages those were.
CREATE PROCEDURE pawl.inbox_reap_expired AS
BEGIN
SET NOCOUNT ON;
DECLARE @got int;
EXEC @got = pawl.outbox_reap_expired;
RETURN @got;
END
