-- claim_from(which)
-- Sets the lanes that claim_regular reads: those of outbox_lane x for which {which} holds, by priority.
SELECT array_agg(l.id), array_agg(l.priority) INTO v_lanes, v_priorities FROM (SELECT x.id, x.priority FROM pawl.outbox_lane x WHERE {which} ORDER BY x.priority) l;
