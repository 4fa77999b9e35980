-- wake(queue)
-- Notify those who wait for work of a queue; always true. They notice a commit by themselves.
{queue} = {queue}
