-- What is to be done after a restore, whatever it was: a new generation, ids and fencing
-- tokens above everything that may have been given out, and nobody holds a lease or counts
-- as working. The gap of 2^32 ids is there for those that were given out after the backup
-- was made. For whoever owns the schema: it changes sequences. @number: the generation's.
CREATE PROCEDURE pawl.generation_restored @number bigint OUTPUT AS
BEGIN
DECLARE @place nvarchar(400), @id uniqueidentifier, @next bigint, @high bigint, @text nvarchar(400);
pawl.begin_own()
SELECT @id = g.id FROM pawl.generation g WITH (UPDLOCK, HOLDLOCK);
IF @id IS NULL
  INSERT INTO pawl.generation (number) VALUES (DATEDIFF_BIG(millisecond, '2024-01-01', SYSUTCDATETIME()));
SELECT @id = g.id FROM pawl.generation g WITH (UPDLOCK);
EXEC pawl.generation_place @place OUTPUT;
EXEC pawl.generation_raise @id, @place;
SELECT @number = g.number FROM pawl.generation g;
EXEC pawl.outbox_highest 1, 140737488355327, @high OUTPUT;
SET @next = NEXT VALUE FOR pawl.outbox_block;
IF @next < @high / 4096 SET @next = @high / 4096;
SET @text = N'ALTER SEQUENCE pawl.outbox_block RESTART WITH ' + CAST(@next + 1048576 + 1 AS nvarchar(20));
EXEC sys.sp_executesql @text;
EXEC pawl.outbox_highest 140737488355328, 281474976710655, @high OUTPUT;
SET @next = NEXT VALUE FOR pawl.outbox_single;
IF @next < @high SET @next = @high;
SET @text = N'ALTER SEQUENCE pawl.outbox_single RESTART WITH ' + CAST(@next + 4294967296 + 1 AS nvarchar(20));
EXEC sys.sp_executesql @text;
UPDATE pawl.lease SET token = CASE WHEN token + 1 > @number * 4096 THEN token + 1 ELSE @number * 4096 END, owner = NULL, holder = NULL, lease_until_utc = NULL;
DELETE FROM pawl.lease_waiter;
DELETE FROM pawl.worker_process;
EXEC pawl.outbox_adopt N'[]';
pawl.end_own()
END
