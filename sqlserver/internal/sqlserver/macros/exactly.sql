-- exactly(a, b)
-- Equal texts: spaces at the end do not count for =.
{a} = {b} AND DATALENGTH({a}) = DATALENGTH({b})
