-- Tables as the statistics know them: name, live and dead rows, microseconds since
-- the last vacuum or null, whether autovacuum is switched off for it, the age of
-- its oldest transaction id, and whether it is unlogged. $1 schema, $2 names.
SELECT c.relname::text, coalesce(s.n_live_tup, 0), coalesce(s.n_dead_tup, 0),
       (extract(epoch FROM clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum)) * 1000000.0)::int8,
       coalesce((SELECT NOT o.option_value::bool FROM pg_options_to_table(c.reloptions) o WHERE o.option_name = 'autovacuum_enabled'), false),
       age(c.relfrozenxid)::int8, c.relpersistence = 'u'
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
 WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname = ANY ($2::text[]) ORDER BY c.relname
