-- What time it is. ?1 now.
SELECT ?1
