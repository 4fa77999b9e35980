-- claim_tables()
-- What the claims of regular messages and of suspects need. retry lies in no index of suspects: what is
-- picked of them is the row. The key of @runs is the order of the answer: rows with payloads are not sorted.
DECLARE @now datetime2(7) = SYSUTCDATETIME(), @need bigint = @most, @take int, @part bigint = 0, @seen int, @lane bigint, @priority int = -32768, @level int, @late bigint, @nr int = 0;
DECLARE @until datetime2(7) = pawl.plus(@now, @lease);
DECLARE @pick TABLE (lo bigint NOT NULL PRIMARY KEY, at datetime2(7) NOT NULL, n bigint NOT NULL, retry int, suspect int NOT NULL);
DECLARE @cut TABLE (at datetime2(7) NOT NULL, lo bigint NOT NULL PRIMARY KEY, n bigint NOT NULL, retry int NOT NULL, suspect int NOT NULL, m bigint);
DECLARE @runs TABLE (nr int NOT NULL, at datetime2(7) NOT NULL, lo bigint NOT NULL, n bigint NOT NULL, retry int NOT NULL, priority bigint NOT NULL, PRIMARY KEY (nr, at, lo));
