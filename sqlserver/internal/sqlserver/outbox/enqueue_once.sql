-- ignores @queues: nothing wakes the workers of other processes
DECLARE @GOT int;
EXEC @GOT = pawl.outbox_enqueue_once @messages;
SET NOCOUNT OFF;
pawl.changed(@GOT)
