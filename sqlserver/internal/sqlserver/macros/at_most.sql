-- at_most(v)
-- A statement takes 1000 rows at most.
IF {v} > 1000 SET {v} = 1000;
