INSERT INTO pawl.move_table AS t (name, last, n, is_over) VALUES (@name, @last, @n, @is_over)
ON CONFLICT (name) DO UPDATE SET last = excluded.last, n = excluded.n, is_over = excluded.is_over WHERE t.last = @before AND NOT t.is_over
