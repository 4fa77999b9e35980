-- same(condition, flag)
({condition}) = {flag}
