-- A write is enough: there is one writer.
UPDATE pawl.lease SET token = token WHERE name = @name AND holder = @holder AND token = @token AND lease_until_utc > @now
