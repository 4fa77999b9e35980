INSERT INTO pawl.declared (owner, nr, version, at)
SELECT @owner, coalesce(max(d.nr), 0) + 1, @version, @now FROM pawl.declared d WHERE d.owner = @owner
