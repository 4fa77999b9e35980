-- turns_to()
-- The time behind those of turns_from.
CAST('1969-12-31T22:48:25.032704' AS datetime2(7))
