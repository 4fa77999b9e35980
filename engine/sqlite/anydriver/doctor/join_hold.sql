-- Hold messages where they are: nobody else writes meanwhile.
SELECT 1
