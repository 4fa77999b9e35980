-- Forget what was done before ?2, at most ?3 entries. ?1 now.
DELETE FROM pawl.audit_trail WHERE id IN (SELECT id FROM pawl.audit_trail WHERE at < ?2 ORDER BY at LIMIT ?3)
