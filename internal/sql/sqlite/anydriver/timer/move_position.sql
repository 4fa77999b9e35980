UPDATE pawl.timer SET id = @to, supplied = 1 WHERE id = @id
