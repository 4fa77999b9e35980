-- The database was restored. Answers the number of the generation that begins.
SELECT pawl.generation_restored()
