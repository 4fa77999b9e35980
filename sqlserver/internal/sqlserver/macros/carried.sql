-- carried(id)
-- The position that a message id carries, if pawl made it.
CAST(SUBSTRING(CAST({id} AS binary(16)), 11, 6) AS bigint)
