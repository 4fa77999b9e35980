-- Store a join. Returns 1, or 0 if its id is known. What meets the same id in an open
-- transaction waits for that.
CREATE PROCEDURE pawl.outbox_join_put @join uniqueidentifier, @grouping_key nvarchar(510), @expected_steps int, @metadata nvarchar(max), @deadline datetime2(7) AS
BEGIN
SET NOCOUNT ON;
DECLARE @now datetime2(7) = SYSUTCDATETIME();
pawl.begin_insert()
INSERT INTO pawl.outbox_join (join_id, grouping_key, expected_steps, metadata, deadline_utc, created_utc, last_updated_utc)
VALUES (@join, @grouping_key, @expected_steps, @metadata, @deadline, @now, @now);
pawl.end_insert()
RETURN 1 - @known;
END
