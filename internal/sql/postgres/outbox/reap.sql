-- ignores @all: this one reads all
SELECT pawl.outbox_reap_runs(@most, @keep) AS n
