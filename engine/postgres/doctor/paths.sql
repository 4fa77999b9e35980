-- Routines in schema $1 under prefix $2 by which somebody else's functions could be
-- called: signature, whether it lacks the search_path that pawl's have, whether it
-- runs with its owner's rights for everybody, and who that is.
SELECT x.signature, x.loose, x.everybodys, x.owner
  FROM (SELECT p.oid::regprocedure::text AS signature, NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false) AS loose,
               p.prosecdef AND has_function_privilege('public', p.oid, 'EXECUTE') AS everybodys, pg_get_userbyid(p.proowner)::text AS owner
          FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND starts_with(p.proname::text, $2)) x
 WHERE x.loose OR x.everybodys ORDER BY x.signature
