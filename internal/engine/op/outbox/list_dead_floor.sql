SELECT id AS floor FROM pawl.outbox_exception WHERE status = @status AND status >= 3 AND id < @before ORDER BY id DESC pawl.skip(@look - 1)
