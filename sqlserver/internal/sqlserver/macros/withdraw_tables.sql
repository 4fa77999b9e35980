-- withdraw_tables()
-- What withdraw needs: @want are the positions that are asked for, and @out what was taken,
-- a run of one each.
DECLARE @want TABLE (id bigint NOT NULL PRIMARY KEY);
DECLARE @out TABLE (id bigint NOT NULL PRIMARY KEY, lane bigint NOT NULL, at datetime2(7) NOT NULL, retry int NOT NULL, suspect int NOT NULL);
DECLARE @hit TABLE (lane bigint NOT NULL, at datetime2(7) NOT NULL, lo bigint NOT NULL, n bigint NOT NULL, retry int NOT NULL, suspect int NOT NULL);
DECLARE @id bigint, @at_lane bigint, @at_time datetime2(7), @at_lo bigint;
