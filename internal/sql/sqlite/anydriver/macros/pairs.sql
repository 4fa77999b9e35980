-- pairs(one, other, most)
-- The sums of two JSON arrays of pairs, [[key,number],…]: of the most keys with the greatest ones.
(SELECT json_group_array(json_array(s.k, s.n)) FROM (
  SELECT e.value ->> 0 AS k, sum(e.value ->> 1) AS n FROM (SELECT value FROM json_each({one}) UNION ALL SELECT value FROM json_each({other})) e GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {most}) s)
