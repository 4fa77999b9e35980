SELECT id FROM pawl.job WHERE name = @name
