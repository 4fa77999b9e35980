SELECT DISTINCT a.pid, coalesce(a.usename, '') AS "user", coalesce(a.application_name, '') AS app, coalesce(a.state, '') AS state,
       pawl.micros(@now - a.xact_start) AS micros, c.relname::text AS of_table
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_stat_activity a ON a.pid = l.pid
 WHERE l.granted AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') AND l.pid <> pg_backend_pid()
   AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
   AND n.nspname = @schema AND starts_with(c.relname::text, @prefix) AND c.relkind = 'r'
 ORDER BY 5 DESC NULLS LAST LIMIT @most
