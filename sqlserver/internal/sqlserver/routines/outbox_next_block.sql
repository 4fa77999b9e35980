-- A block of ids for a process, and what generation_look says. Outside of a transaction it
-- makes one of its own: once that has committed the block is on disk, because the row that
-- is written is. A sequence that is behind the messages, as after a restore, is moved on.
CREATE PROCEDURE pawl.outbox_next_block AS
BEGIN
DECLARE @block bigint, @high bigint, @mark nvarchar(450), @number bigint;
pawl.begin_own()
EXEC pawl.generation_look @mark OUTPUT, @number OUTPUT;
UPDATE pawl.generation SET written = CONVERT(nvarchar(40), SYSUTCDATETIME(), 126);
EXEC pawl.outbox_highest 1, 140737488355327, @high OUTPUT;
SET @block = NEXT VALUE FOR pawl.outbox_block;
WHILE @block * 4096 <= @high
  SET @block = NEXT VALUE FOR pawl.outbox_block;
pawl.end_own()
SELECT @block AS block, @mark AS mark, @number AS number, CAST(NULL AS bigint) AS written;
END
