-- Ids as runs for routines on many messages. Each counts once; ids that no message can have
-- are left out: sums with them may exceed bigint.
CREATE OR REPLACE FUNCTION pawl.outbox_runs(p_ids bigint[], OUT o_lo bigint[], OUT o_n integer[]) LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp AS $f$
BEGIN
  SELECT coalesce(array_agg(s.lo ORDER BY s.lo), '{}'), coalesce(array_agg(s.n ORDER BY s.lo), '{}') INTO o_lo, o_n
    FROM (SELECT min(u.id) AS lo, count(*)::integer AS n
            FROM (SELECT d.id, d.id - row_number() OVER (ORDER BY d.id) AS island
                    FROM (SELECT DISTINCT x.id FROM unnest(p_ids) x(id) WHERE x.id BETWEEN 1 AND 281474976710655) d) u GROUP BY u.island) s;
END $f$;
