-- The seed's Lease table, column for column (D-102), with readable times.
CREATE VIEW pawl.leases AS
SELECT name, owner,
       strftime('%Y-%m-%dT%H:%M:%fZ', lease_until_utc / 1e6, 'unixepoch') AS lease_until_utc,
       strftime('%Y-%m-%dT%H:%M:%fZ', last_granted_utc / 1e6, 'unixepoch') AS last_granted_utc,
       token,
       CASE WHEN holder IS NOT NULL THEN lower(substr(hex(holder), 1, 8) || '-' || substr(hex(holder), 9, 4) || '-' || substr(hex(holder), 13, 4)
         || '-' || substr(hex(holder), 17, 4) || '-' || substr(hex(holder), 21)) END AS holder
  FROM pawl.lease;
