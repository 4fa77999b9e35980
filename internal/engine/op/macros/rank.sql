-- rank(id)
-- A UUID in the order of its bytes.
{id}
