-- held_tables()
-- What hold_claimed needs besides @asked.
DECLARE @nr int = 1, @last int, @by uniqueidentifier, @id bigint, @lo bigint, @n bigint, @held bit, @before bigint = 0;
