INSERT INTO pawl.outbox_limit_claim (kind, name, id) SELECT @kind, @name, value FROM json_each(@ids) WHERE true ON CONFLICT DO NOTHING
