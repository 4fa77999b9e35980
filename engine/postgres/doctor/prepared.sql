-- The oldest prepared transactions of this database: name, owner, microseconds
-- since they were prepared. $1 how many.
SELECT p.gid, p.owner::text, (extract(epoch FROM clock_timestamp() - p.prepared) * 1000000.0)::int8
  FROM pg_prepared_xacts p WHERE p.database = current_database() ORDER BY p.prepared LIMIT $1
