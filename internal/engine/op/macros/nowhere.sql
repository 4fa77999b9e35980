-- nowhere(id)
-- Whether a message is in no place.
NOT (pawl.settled({id}) OR pawl.unsettled({id}))
