-- rank(id)
-- A uniqueidentifier in the order of its bytes: SQL Server compares the last six first.
-- outbox_join.rank is computed by the same expression, so that its index is used.
CAST(SUBSTRING(CAST({id} AS binary(16)), 4, 1) + SUBSTRING(CAST({id} AS binary(16)), 3, 1) + SUBSTRING(CAST({id} AS binary(16)), 2, 1) + SUBSTRING(CAST({id} AS binary(16)), 1, 1) + SUBSTRING(CAST({id} AS binary(16)), 6, 1) + SUBSTRING(CAST({id} AS binary(16)), 5, 1) + SUBSTRING(CAST({id} AS binary(16)), 8, 1) + SUBSTRING(CAST({id} AS binary(16)), 7, 1) + SUBSTRING(CAST({id} AS binary(16)), 9, 8) AS binary(16))
