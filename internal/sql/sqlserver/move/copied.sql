DELETE FROM pawl.move_table WHERE name = @name;
INSERT INTO pawl.move_table (name, last, n, is_over) VALUES (@name, @last, @n, @is_over)
