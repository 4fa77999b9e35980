DELETE FROM pawl.job WHERE id = @id
