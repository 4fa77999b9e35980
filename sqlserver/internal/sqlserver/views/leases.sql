-- The seed's Lease table, column for column (D-102).
CREATE VIEW pawl.leases AS
SELECT l.name, l.owner, l.lease_until_utc, l.last_granted_utc, l.token, l.holder FROM pawl.lease l;
