INSERT INTO pawl.outbox_limit_claim AS c (kind, name, id, more, n)
SELECT @kind, @name, @ids ->> 0, json_remove(@ids, '$[0]'), json_array_length(@ids) WHERE json_array_length(@ids) > 0
ON CONFLICT (kind, name, id) DO UPDATE SET (more, n) = (
  SELECT json_group_array(i.value), 1 + count(*) FROM (SELECT value FROM json_each(c.more) UNION SELECT value FROM json_each(excluded.more)) i)
