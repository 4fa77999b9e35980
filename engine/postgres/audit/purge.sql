-- Forget what was done longer ago than $1, at most $2 entries.
WITH gone AS (
  DELETE FROM pawl.audit_trail WHERE id = ANY (ARRAY(SELECT a.id FROM pawl.audit_trail a WHERE a.at < clock_timestamp() - $1::interval ORDER BY a.at LIMIT $2)) RETURNING 1)
SELECT count(*) FROM gone
