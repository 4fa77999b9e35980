-- The id of the job of name ?2.
SELECT id FROM pawl.job WHERE name = ?2
