DELETE FROM pawl.audit_trail WHERE id IN (SELECT id FROM pawl.audit_trail WHERE at < @now - @age ORDER BY at LIMIT @most)
