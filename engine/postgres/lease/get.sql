-- A lease. $1 name. Name, owner, token, end, last granted, held, and how many wait.
SELECT l.name, l.owner, l.token, l.lease_until_utc, l.last_granted_utc, coalesce(l.lease_until_utc > clock_timestamp(), false), pawl.lease_ahead(l.name, NULL)
  FROM pawl.lease l WHERE l.name = $1
