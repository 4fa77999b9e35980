SELECT pawl.columns(d) FROM pawl.declared d WHERE d.owner = @owner ORDER BY d.nr DESC
