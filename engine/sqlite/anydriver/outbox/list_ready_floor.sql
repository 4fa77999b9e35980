-- Where a list of waiting messages that looks at so many stops: no row if there are no more. ?1 now, ?2 below this id, ?3 how many, but for the run it
-- is in the middle of.
SELECT lo FROM (SELECT lo, sum(n) OVER (ORDER BY lo DESC) AS seen
                  FROM (SELECT lo, n FROM pawl.outbox_ready WHERE lo < ?2 ORDER BY lo DESC LIMIT ?3) newest) counted
 WHERE seen >= ?3 ORDER BY lo DESC LIMIT 1
