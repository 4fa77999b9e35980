-- join_row(table, row, condition)
-- LEFT JOIN of the one row of a table that a key names, or none.
LEFT JOIN {table} {row} ON {condition}
