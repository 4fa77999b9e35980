INSERT OR REPLACE INTO pawl.outbox_sequence (last, one) SELECT max(last, @last), 1 FROM pawl.outbox_sequence
