-- Leases: see docs/leases.md. Times are microseconds since 1970, UTC.

-- One row per name. It is never deleted, so that its token never starts anew (D-60).
CREATE TABLE pawl.lease_row (
  name         TEXT PRIMARY KEY,
  owner        TEXT,
  lease_until  INTEGER,
  last_granted INTEGER,
  token        INTEGER NOT NULL,
  holder       BLOB -- the one acquisition that holds it (D-61), or null
) STRICT, WITHOUT ROWID;

-- Who waits for a lease, in order of arrival. Waiters that stop saying that
-- they are alive drop out of the line. A ticket that comes back is no harm: it
-- is still above all that are left.
CREATE TABLE pawl.lease_waiter (
  ticket      INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  id          BLOB NOT NULL UNIQUE,
  alive_until INTEGER NOT NULL
) STRICT;
CREATE INDEX pawl.lease_waiter_line ON pawl.lease_waiter (name, ticket);

-- The seed's Lease table, column for column (D-102), with readable times.
CREATE VIEW pawl.lease AS
SELECT name, owner,
       strftime('%Y-%m-%dT%H:%M:%fZ', lease_until / 1e6, 'unixepoch') AS lease_until_utc,
       strftime('%Y-%m-%dT%H:%M:%fZ', last_granted / 1e6, 'unixepoch') AS last_granted_utc,
       token,
       CASE WHEN holder IS NOT NULL THEN lower(substr(hex(holder), 1, 8) || '-' || substr(hex(holder), 9, 4) || '-' || substr(hex(holder), 13, 4)
         || '-' || substr(hex(holder), 17, 4) || '-' || substr(hex(holder), 21)) END AS holder
  FROM pawl.lease_row;
