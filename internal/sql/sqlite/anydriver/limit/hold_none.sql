DELETE FROM pawl.outbox_limit_claim AS u
 WHERE CASE @kind WHEN 'each' THEN u.kind = 'topic' AND pawl.falls_under(@name, u.name) AND NOT EXISTS (SELECT 1 FROM pawl.outbox_limit l WHERE l.kind = 'topic' AND l.name = u.name)
                  ELSE u.kind = @kind AND u.name = @name END
