-- Rows that wait, oldest first. The transaction is the only one that writes.
SELECT {columns} FROM {table} AS t WHERE {waiting} ORDER BY {order} LIMIT {most} OFFSET {skip}
