-- Rows that wait, oldest first, and that nobody else has locked, whether READ_COMMITTED_SNAPSHOT is on or off.
SELECT {columns} FROM {table} AS t WITH (READPAST, UPDLOCK, ROWLOCK, READCOMMITTEDLOCK) WHERE {waiting} ORDER BY {order} OFFSET {skip} ROWS FETCH NEXT {most} ROWS ONLY
