-- The database's clock, ?1.
SELECT ?1
