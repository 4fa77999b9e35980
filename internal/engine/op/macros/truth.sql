-- truth(condition)
-- A condition as a column.
{condition}
