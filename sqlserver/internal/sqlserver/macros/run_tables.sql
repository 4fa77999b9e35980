-- run_tables()
-- What take needs: @run are the runs that are asked for, in their order, and @taken what
-- was taken of them; nr tells of which.
DECLARE @run TABLE (nr int NOT NULL PRIMARY KEY, owner uniqueidentifier NOT NULL, lo bigint NOT NULL, n bigint NOT NULL, delay bigint, error nvarchar(max), fingerprint nvarchar(400), flag bit, status smallint, hold bit, uncounted bit, topic nvarchar(510) COLLATE Latin1_General_100_BIN2);
DECLARE @taken TABLE (nr int NOT NULL, lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, lane bigint NOT NULL, at datetime2(7) NOT NULL, retry int NOT NULL, owner uniqueidentifier NOT NULL, locked_until datetime2(7) NOT NULL, suspect int NOT NULL);
DECLARE @one TABLE (lo bigint NOT NULL, n bigint NOT NULL, lane bigint NOT NULL, at datetime2(7) NOT NULL, retry int NOT NULL, owner uniqueidentifier NOT NULL, locked_until datetime2(7) NOT NULL, suspect int NOT NULL);
DECLARE @nr int, @last int, @by uniqueidentifier, @from bigint, @end bigint, @lo bigint, @n bigint, @who uniqueidentifier, @found bit;
