-- limit(n)
-- The first n rows, in an order.
LIMIT {n}
