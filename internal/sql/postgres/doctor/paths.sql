SELECT x.signature, x.loose, x.everybodys, x.owner
  FROM (SELECT p.oid::regprocedure::text AS signature, NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false) AS loose,
               p.prosecdef AND has_function_privilege('public', p.oid, 'EXECUTE') AS everybodys, pg_get_userbyid(p.proowner)::text AS owner
          FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = @schema AND starts_with(p.proname::text, @prefix)) x
 WHERE x.loose OR x.everybodys ORDER BY x.signature
