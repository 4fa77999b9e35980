-- A consumer is a worker in another language: it claims and settles messages by procedures,
-- and may do nothing else.
GRANT EXECUTE ON pawl.outbox_claim TO [$(role)];
GRANT EXECUTE ON TYPE::pawl.outbox_result_list TO [$(role)];
GRANT EXECUTE ON pawl.outbox_set_result TO [$(role)];
GRANT EXECUTE ON pawl.outbox_ack TO [$(role)];
GRANT EXECUTE ON pawl.outbox_abandon TO [$(role)];
GRANT EXECUTE ON pawl.outbox_fail TO [$(role)];
GRANT EXECUTE ON pawl.outbox_release TO [$(role)];
GRANT EXECUTE ON pawl.outbox_extend TO [$(role)];
GRANT EXECUTE ON pawl.outbox_reap_expired TO [$(role)];
