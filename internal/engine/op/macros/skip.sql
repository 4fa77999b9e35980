-- skip(n)
-- The one row behind the first n, in an order.
LIMIT 1 OFFSET {n}
