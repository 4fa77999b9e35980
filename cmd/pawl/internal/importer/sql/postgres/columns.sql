-- The columns of every table of a schema, that of the search path for none.
SELECT c.table_name::text, c.column_name::text, c.data_type::text
  FROM information_schema.tables t INNER JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
 WHERE t.table_type = 'BASE TABLE' AND t.table_schema = coalesce(nullif($1, ''), current_schema()::text) ORDER BY c.table_name, c.ordinal_position
