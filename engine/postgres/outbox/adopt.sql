-- Make lanes known that runs lie in and nobody knows. $1 queues that they may be
-- of. Answers how many.
SELECT pawl.outbox_adopt($1)
