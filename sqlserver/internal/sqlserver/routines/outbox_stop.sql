-- Cancel messages, a JSON array of positions, and ask for the end of those that are claimed: their workers
-- read it. Returns how many were cancelled or are claimed.
CREATE PROCEDURE pawl.outbox_stop @ids nvarchar(max), @reason nvarchar(max) AS
BEGIN
DECLARE @got int;
DECLARE @want TABLE (id bigint NOT NULL PRIMARY KEY);
pawl.begin_own()
INSERT INTO @want (id) SELECT DISTINCT CAST(x.value AS bigint) FROM OPENJSON(@ids) x;
-- First, for all: a message may be claimed before it is looked for among those that wait.
UPDATE s SET owner = NULL, reason = @reason FROM @want w INNER LOOP JOIN pawl.outbox_stopping s WITH (FORCESEEK, ROWLOCK) ON s.id = w.id;
INSERT INTO pawl.outbox_stopping (id, reason)
SELECT w.id, @reason FROM @want w WHERE pawl.unsettled(w.id) AND NOT EXISTS (SELECT 1 FROM pawl.outbox_stopping s WITH (UPDLOCK, HOLDLOCK) WHERE s.id = w.id) ORDER BY w.id;
EXEC @got = pawl.outbox_cancel @ids, @reason;
DELETE s FROM @want w INNER LOOP JOIN pawl.outbox_stopping s WITH (FORCESEEK, ROWLOCK) ON s.id = w.id WHERE pawl.settled(w.id);
SET @got = @got + (SELECT COUNT(*) FROM @want w INNER LOOP JOIN pawl.outbox_stopping s WITH (FORCESEEK) ON s.id = w.id);
pawl.end_own()
RETURN @got;
END
