-- The token carries the generation in its high bits.
INSERT INTO pawl.lease AS l (name, owner, holder, token, lease_until_utc, last_granted_utc)
SELECT @name, @owner, @holder, max(1, (SELECT (g.number << 12) + 1 FROM pawl.generation g)), @now + @lease, @now
 WHERE NOT EXISTS (SELECT 1 FROM pawl.lease_waiter w
                    WHERE w.name = @name AND w.id <> @holder AND w.alive_until > @now
                      AND w.ticket < coalesce((SELECT m.ticket FROM pawl.lease_waiter m WHERE m.id = @holder), 9223372036854775807))
ON CONFLICT (name) DO UPDATE
  SET owner = excluded.owner, holder = excluded.holder, token = CASE WHEN l.holder IS excluded.holder THEN l.token ELSE max(l.token + 1, excluded.token) END,
      lease_until_utc = excluded.lease_until_utc, last_granted_utc = excluded.last_granted_utc
  WHERE l.holder IS NULL OR l.holder = excluded.holder OR l.lease_until_utc <= @now
RETURNING token, lease_until_utc
