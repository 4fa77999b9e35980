-- limit_ids(use)
-- The messages that a row of outbox_limit_claim counts, as i, behind FROM.
CROSS JOIN LATERAL pg_catalog.unnest(pg_catalog.array_prepend({use}.id, {use}.more)) i(id)
