-- Rows that wait, oldest first, and that nobody else has locked.
SELECT {columns} FROM {table} AS t WHERE {waiting} ORDER BY {order} LIMIT {most} OFFSET {skip} FOR UPDATE OF t SKIP LOCKED
