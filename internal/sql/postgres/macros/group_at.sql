-- group_at(key)
-- As ordering.At has it: when messages with an ordering key become ready that are due at once.
timestamptz 'epoch' - (('x' || left(md5(convert_to({key}, 'UTF8')), 8))::bit(32)::bigint + 1) * interval '1 microsecond'
