package join

import (
	"database/sql/driver"
	"fmt"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/outbox"
)

// ID identifies a join. Ids that pawl makes sort by time.
type ID uuid.UUID

// NewID returns a new id, for a Spec that names its join itself.
func NewID() ID { return ID(uuid.Must(uuid.NewV7())) }

// ParseID reads a UUID in any of its usual forms.
func ParseID(s string) (ID, error) {
	id, err := uuid.Parse(s)
	if err != nil {
		return ID{}, fmt.Errorf("join id %q: %w", s, err)
	}
	return ID(id), nil
}

// String returns the id as a lower-case hyphenated UUID.
func (id ID) String() string { return uuid.UUID(id).String() }

// isZero reports whether the id is unset.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText encodes the id as String does.
func (id ID) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText decodes what MarshalText encodes.
func (id *ID) UnmarshalText(text []byte) error { return (*uuid.UUID)(id).UnmarshalText(text) }

// Value lets database/sql store the id as text.
func (id ID) Value() (driver.Value, error) { return id.String(), nil }

// Scan lets database/sql read the id from text or bytes.
func (id *ID) Scan(src any) error { return (*uuid.UUID)(id).Scan(src) }

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
