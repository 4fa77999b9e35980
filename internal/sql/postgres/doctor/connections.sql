SELECT 'server' AS what, count(*) FILTER (WHERE a.datid IS NOT NULL) AS used,
       current_setting('max_connections')::int8 - current_setting('superuser_reserved_connections')::int8 AS most
  FROM pg_stat_activity a
UNION ALL
SELECT 'role ' || r.rolname::text, (SELECT count(*) FROM pg_stat_activity a WHERE a.datid IS NOT NULL AND a.usesysid = r.oid), r.rolconnlimit
  FROM pg_roles r WHERE r.rolname = session_user
UNION ALL
SELECT 'database ' || d.datname::text, (SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid), d.datconnlimit
  FROM pg_database d WHERE d.datname = current_database()
