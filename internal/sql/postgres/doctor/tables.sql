SELECT c.relname::text AS name, coalesce(s.n_live_tup, 0) AS live, coalesce(s.n_dead_tup, 0) AS dead,
       pawl.micros(@now - greatest(s.last_vacuum, s.last_autovacuum)) AS vacuumed,
       coalesce((SELECT NOT o.option_value::bool FROM pg_options_to_table(c.reloptions) o WHERE o.option_name = 'autovacuum_enabled'), false) AS off,
       age(c.relfrozenxid)::int8 AS age, c.relpersistence = 'u' AS unlogged
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
 WHERE n.nspname = @schema AND c.relkind = 'r' AND c.relname = ANY (@names) ORDER BY c.relname
