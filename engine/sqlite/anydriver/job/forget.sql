-- Forget job ?2.
DELETE FROM pawl.job WHERE id = ?2
