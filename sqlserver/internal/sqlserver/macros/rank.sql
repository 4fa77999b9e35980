-- rank(id)
-- A uniqueidentifier in the order of its bytes: SQL Server compares the last six first.
-- outbox_join.rank is computed by the same expression, so that its index is used.
CONVERT(binary(16), REPLACE(CAST({id} AS char(36)), '-', ''), 2)
