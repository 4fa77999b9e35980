INSERT OR REPLACE INTO pawl.outbox_sequence (last, one) SELECT max(last, @low, @high), 1 FROM pawl.outbox_sequence
