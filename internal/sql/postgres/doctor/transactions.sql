-- Without the query: it may contain data.
SELECT a.pid, coalesce(a.usename, '') AS "user", coalesce(a.application_name, '') AS app, coalesce(a.state, '') AS state,
       pawl.micros(@now - a.xact_start) AS micros, coalesce(age(a.backend_xmin), age(a.backend_xid), 0)::int8 AS xids
  FROM pg_stat_activity a
 WHERE (a.datname = current_database() OR a.backend_type = 'walsender') AND a.pid <> pg_backend_pid() AND a.xact_start IS NOT NULL
   AND a.backend_type <> 'autovacuum worker'
 ORDER BY a.xact_start LIMIT @most
