-- "pawl" and its dot are separate, or they would be replaced by the configured names.
WITH n AS (
  SELECT oid, nspname, '"' || nspname::text || '"."' || @prefix AS mark FROM pg_namespace WHERE nspname = @schema),
c AS (
  SELECT c.oid, c.relkind, substr(c.relname::text, 1 + length(@prefix)) AS name FROM pg_class c JOIN n ON c.relnamespace = n.oid WHERE starts_with(c.relname::text, @prefix))
SELECT CASE c.relkind WHEN 'r' THEN 'table ' WHEN 'v' THEN 'view ' WHEN 'S' THEN 'sequence ' ELSE 'type ' END || c.name AS line, true AS sound
  FROM c WHERE c.relkind IN ('r', 'v', 'S', 'c')
UNION ALL
SELECT 'column ' || c.name || '.' || a.attname::text || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END, true
  FROM c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'index CREATE ' || CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END || 'INDEX ON pawl' || '.' || c.name || ' ' || substring(pg_get_indexdef(i.indexrelid) FROM ' (USING .*)$'),
       i.indisvalid AND i.indisready
  FROM c JOIN pg_index i ON i.indrelid = c.oid WHERE c.relkind = 'r'
UNION ALL
SELECT 'constraint ' || c.name || ' ' || CASE k.contype WHEN 'c' THEN pg_get_constraintdef(k.oid) ELSE 'REFERENCES ' || f.name END, k.convalidated
  FROM c JOIN pg_constraint k ON k.conrelid = c.oid LEFT JOIN c f ON f.oid = k.confrelid WHERE k.contype IN ('c', 'f')
UNION ALL
SELECT 'function ' || substr(p.proname::text, 1 + length(@prefix)) || '(' || pg_catalog.array_to_string(ARRAY(
         SELECT CASE WHEN t.typnamespace = n.oid THEN substr(t.typname::text, 1 + length(@prefix)) ELSE t.typname::text END
           FROM pg_catalog.unnest(p.proargtypes::oid[]) WITH ORDINALITY u(oid, nth) JOIN pg_type t ON t.oid = u.oid ORDER BY u.nth), ', ') || ') '
         || left(md5(replace(p.prosrc, n.mark, 'pawl' || '.') || coalesce(pg_catalog.array_to_string(p.proconfig, ' '), '')), 12), true
  FROM pg_proc p JOIN n ON p.pronamespace = n.oid WHERE starts_with(p.proname::text, @prefix)
