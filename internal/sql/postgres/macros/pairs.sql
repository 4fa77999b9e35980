-- pairs(one, other, most)
-- The sums of two JSON arrays of pairs, [[key,number],...]: of the most keys with the greatest ones.
(SELECT jsonb_agg(jsonb_build_array(s.k, s.n))::text FROM (
  SELECT e.value -> 0 AS k, sum((e.value ->> 1)::bigint) AS n FROM jsonb_array_elements({one}::jsonb || {other}::jsonb) e GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {most}) s)
