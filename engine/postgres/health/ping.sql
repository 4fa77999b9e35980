-- Is anybody there?
SELECT 1::int8
