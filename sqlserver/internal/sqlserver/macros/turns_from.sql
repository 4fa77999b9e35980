-- turns_from()
-- The first of the times at which messages with fair keys become ready that are due at once (ordering.FairAt).
CAST('1969-12-31T21:36:50.065408' AS datetime2(7))
