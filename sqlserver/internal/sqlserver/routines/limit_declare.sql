-- Limit what a program's handlers need limited, in the name of the program @owner; no bounds: end its
-- limit. Returns 1, 0 if nothing changes, or -1 if somebody else set the limit: that one stays, and shows
-- what is declared.
CREATE PROCEDURE pawl.limit_declare @kind nvarchar(20), @name nvarchar(510), @concurrency int, @rate int, @period bigint, @burst int, @owner nvarchar(400), @reason nvarchar(max), @declared nvarchar(1000) AS
BEGIN
DECLARE @got int = -1, @actor nvarchar(510) = CONCAT(N'declared by ', @owner), @free int;
pawl.begin_own()
pawl.limits_turn(N'Exclusive', -1)
IF @free < 0 THROW 57102, 'chosen as the victim of a deadlock', 1;
UPDATE pawl.outbox_limit WITH (ROWLOCK) SET declared = @declared WHERE kind = @kind AND pawl.exactly(name, @name) AND pattern = N'' AND actor <> @actor;
IF @@ROWCOUNT = 0
BEGIN
  IF @concurrency IS NULL AND @rate IS NULL
    EXEC @got = pawl.limit_end @kind, @name;
  ELSE
    EXEC @got = pawl.limit_put @kind, @name, @concurrency, @rate, @period, @burst, @actor, @reason;
END;
pawl.end_own()
RETURN @got;
END
