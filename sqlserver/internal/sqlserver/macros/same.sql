-- same(condition, flag)
CASE WHEN {condition} THEN 1 ELSE 0 END = {flag}
