-- bad_table()
-- Messages whose attempts failed, or that ended: see exceptions().
DECLARE @bad TABLE (id bigint NOT NULL PRIMARY KEY, status smallint NOT NULL, retry int NOT NULL, attempt int, at datetime2(7), error nvarchar(max) COLLATE Latin1_General_100_BIN2, fingerprint nvarchar(400) COLLATE Latin1_General_100_BIN2);
