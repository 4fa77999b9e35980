-- lease_seq(name, hint)
-- Where a lease lies, into @seq. It reads the index of names alone: who shares that lock keeps
-- the lease from changing hands, and lets its holder renew it.
SET @seq = NULL;
SELECT @seq = l.seq FROM pawl.lease l WITH ({hint}, ROWLOCK, FORCESEEK) WHERE pawl.exactly(l.name, {name});
