-- is(flag)
{flag} = 1
