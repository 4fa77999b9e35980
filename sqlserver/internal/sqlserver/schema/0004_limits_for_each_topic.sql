-- lowest: 4
-- A limit of kind 'each' holds for each of the topics that begin as its name does, before the *. Such
-- a topic has a row of its own while the limit is in use there, whose column pattern says of which
-- limit; that is empty in limits that somebody set.
DECLARE @check nvarchar(300);
SELECT @check = c.name FROM sys.check_constraints c INNER JOIN sys.columns k ON k.object_id = c.parent_object_id AND k.column_id = c.parent_column_id
 WHERE c.parent_object_id = OBJECT_ID(N'pawl.outbox_limit') AND k.name = N'kind';
SET @check = CONCAT(N'ALTER TABLE pawl.outbox_limit DROP CONSTRAINT ', QUOTENAME(@check));
EXEC (@check);
GO
ALTER TABLE pawl.outbox_limit ADD CHECK (kind IN (N'queue', N'topic', N'each'));
ALTER TABLE pawl.outbox_limit ADD pattern nvarchar(510) COLLATE Latin1_General_100_BIN2 NOT NULL DEFAULT N'';
GO
DROP INDEX name ON pawl.outbox_limit;
CREATE UNIQUE INDEX name ON pawl.outbox_limit (kind, name, size) INCLUDE (pattern) WITH (ALLOW_PAGE_LOCKS = OFF);
