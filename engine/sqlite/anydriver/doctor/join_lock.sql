-- Lock a join: nobody else writes meanwhile.
SELECT 1
