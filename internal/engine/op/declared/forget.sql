DELETE FROM pawl.declared WHERE owner = @owner AND (@version IS NULL OR version = @version)
