-- purge_of_joins(table)
-- Deletes what a table has of the joins in @locked, 1000 rows at a time, by way of @row.
WHILE 1 = 1
BEGIN
  DELETE FROM @row;
  INSERT INTO @row (seq)
  SELECT TOP (1000) x.seq FROM @locked l INNER LOOP JOIN {table} x WITH (FORCESEEK) ON x.join_id = l.join_id;
  IF @@ROWCOUNT = 0 BREAK;
  DELETE FROM {table} WHERE seq IN (SELECT r.seq FROM @row r);
END;
