-- join_tables()
-- What lock_joins needs: @asked are joins in the order of their ids, @held those of them
-- that are pending and locked, with how many steps they still expect.
DECLARE @asked TABLE (nr int NOT NULL PRIMARY KEY, join_id uniqueidentifier NOT NULL);
DECLARE @held TABLE (join_id uniqueidentifier NOT NULL PRIMARY KEY, seq bigint NOT NULL, room int NOT NULL);
DECLARE @step TABLE (seq bigint NOT NULL PRIMARY KEY, join_id uniqueidentifier NOT NULL, id bigint NOT NULL, status smallint NOT NULL DEFAULT 0);
DECLARE @nth int = 1, @joins int, @join uniqueidentifier, @seq bigint, @from bigint, @upto bigint, @completed int, @failed int;
