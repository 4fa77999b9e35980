SELECT s.name::text AS name FROM pg_catalog.unnest(current_schemas(true)) WITH ORDINALITY s(name, nth)
 WHERE s.nth < (SELECT min(c.nth) FROM pg_catalog.unnest(current_schemas(true)) WITH ORDINALITY c(name, nth) WHERE c.name = 'pg_catalog') AND NOT starts_with(s.name::text, 'pg_temp')
