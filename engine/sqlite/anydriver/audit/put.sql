-- Put ?7 on the account of operation ?2 of ?3, which did ?4 to ?5, and why: ?6 or null. ?1 now.
INSERT INTO pawl.audit_trail (id, at, actor, action, target, reason, n) VALUES (?2, ?1, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE SET n = n + excluded.n
