-- is(flag)
-- A boolean as a condition.
{flag}
