-- Answers 1 if suspects are due, in a queue that is not paused, or 0. $1 queue.
SELECT pawl.outbox_suspects($1)::int
