-- The oldest transactions of other sessions that concern this database: process,
-- user, application, state, microseconds since they began, and how many
-- transactions ago their snapshot is. Never the query: it may hold data. $1 how many.
SELECT a.pid, coalesce(a.usename, ''), coalesce(a.application_name, ''), coalesce(a.state, ''),
       (extract(epoch FROM clock_timestamp() - a.xact_start) * 1000000.0)::int8, coalesce(age(a.backend_xmin), age(a.backend_xid), 0)::int8
  FROM pg_stat_activity a
 WHERE (a.datname = current_database() OR a.backend_type = 'walsender') AND a.pid <> pg_backend_pid() AND a.xact_start IS NOT NULL
   AND a.backend_type <> 'autovacuum worker'
 ORDER BY a.xact_start LIMIT $1
