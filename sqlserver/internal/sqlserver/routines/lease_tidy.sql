-- Drop from the line whoever was served or died. Returns how many.
CREATE PROCEDURE pawl.lease_tidy @name nvarchar(510) AS
BEGIN
DECLARE @seq bigint, @holder uniqueidentifier, @got int;
DECLARE @over TABLE (ticket bigint NOT NULL PRIMARY KEY);
pawl.begin_own()
pawl.lease_seq(@name, READCOMMITTED)
SELECT @holder = l.holder FROM pawl.lease l WHERE l.seq = @seq;
INSERT INTO @over (ticket)
SELECT TOP (1000) w.ticket FROM pawl.lease_waiter w WITH (FORCESEEK) WHERE pawl.exactly(w.name, @name) AND (w.alive_until <= SYSUTCDATETIME() OR w.id = @holder) ORDER BY w.ticket;
DELETE FROM pawl.lease_waiter WHERE ticket IN (SELECT o.ticket FROM @over o);
SET @got = @@ROWCOUNT;
pawl.end_own()
RETURN @got;
END
