DELETE FROM pawl.move_table WHERE name = @name AND last = @before AND is_over = 0;
INSERT INTO pawl.move_table (name, last, n, is_over) SELECT @name, @last, @n, @is_over WHERE NOT EXISTS (SELECT 1 FROM pawl.move_table t WHERE t.name = @name)
