-- line_place(id)
-- Where a message with an ordering key is: see DoctorLine.
CASE WHEN EXISTS (SELECT 1 FROM pawl.run_of(pawl.outbox_ready, {id}) r INNER JOIN pawl.outbox_lane w ON w.id = r.lane WHERE r.lo + r.n > {id} AND w.kind = 2) THEN 2
     WHEN pawl.unsettled({id}) THEN 1
     WHEN EXISTS (SELECT 1 FROM pawl.outbox_exception e WHERE e.id = {id} AND e.status = 3) THEN 3
     ELSE 0 END
