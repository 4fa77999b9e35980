-- limit_ids(use)
-- The messages that a row of outbox_limit_claim counts.
json_each(json_insert(coalesce({use}.more, '[]'), '$[#]', {use}.id))
