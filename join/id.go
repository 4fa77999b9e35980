package join

import (
	"github.com/google/uuid"

	"github.com/bravellian/pawl/outbox"
)

// ID identifies a join. Ids that pawl makes sort by time. Any UUID is the id of a join, and
// uuid.Parse reads it.
type ID = uuid.UUID

// derive returns the id of a message that belongs to a join or a wait: enqueuing it again has
// no effect.
func derive(from [16]byte, role string) outbox.MessageID {
	return outbox.MessageID(uuid.NewSHA1(uuid.UUID(from), []byte("pawl/"+role)))
}

func bare(ids []outbox.MessageID) [][16]byte {
	out := make([][16]byte, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}
