-- The path of the database's file. ?1 now.
SELECT file FROM pragma_database_list WHERE name = 'main' AND ?1 > 0
