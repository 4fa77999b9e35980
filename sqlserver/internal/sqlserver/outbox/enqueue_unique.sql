-- ignores @queues: nothing wakes the workers of other processes
EXEC pawl.outbox_enqueue_keyed @messages, @keys
