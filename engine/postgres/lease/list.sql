-- Leases in order of name. $1 after this name, $2 held ones only, $3 how many. Columns as in get.
SELECT l.name, l.owner, l.token, l.lease_until_utc, l.last_granted_utc, coalesce(l.lease_until_utc > clock_timestamp(), false), pawl.lease_ahead(l.name, NULL)
  FROM pawl.lease l WHERE l.name > $1 AND (NOT $2::bool OR l.lease_until_utc > clock_timestamp()) ORDER BY l.name LIMIT $3
