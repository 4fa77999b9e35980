-- pairs(json)
-- A JSON array of objects with k and n, [{"k":1,"n":2},…], as one of pairs, [[1,2],…]. In a text no quote
-- stands without a backslash.
CONCAT(N'[[', REPLACE(REPLACE(SUBSTRING({json}, 7, LEN({json}) - 8), N'},{"k":', N'],['), N',"n":', N','), N']]')
