package outbox

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// Position is a message's position in the outbox, by which workers claim and settle it. It never
// changes.
type Position int64

// OwnerToken identifies a claim: only with it can the messages of the claim be settled. Choose a new one
// for every claim.
type OwnerToken = uuid.UUID

// NewOwnerToken returns a random token.
func NewOwnerToken() OwnerToken { return uuid.New() }

// MessageID is a message's logical identity, the same for every delivery. Handlers use it to
// recognize a message that they have handled.
type MessageID uuid.UUID

// ParseMessageID reads a UUID in any of its usual forms.
func ParseMessageID(s string) (MessageID, error) {
	id, err := uuid.Parse(s)
	if err != nil {
		return MessageID{}, fmt.Errorf("message id %q: %w", s, err)
	}
	return MessageID(id), nil
}

// String returns the id as a lower-case hyphenated UUID.
func (id MessageID) String() string { return uuid.UUID(id).String() }

// IsZero reports whether the id is unset.
func (id MessageID) IsZero() bool { return id == MessageID{} }

// MarshalText encodes the id as String does.
func (id MessageID) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText decodes what MarshalText encodes.
func (id *MessageID) UnmarshalText(text []byte) error { return (*uuid.UUID)(id).UnmarshalText(text) }

// Value lets database/sql store the id as text.
func (id MessageID) Value() (driver.Value, error) { return id.String(), nil }

// Scan lets database/sql read the id from text or bytes.
func (id *MessageID) Scan(src any) error { return (*uuid.UUID)(id).Scan(src) }

// Ids that pawl makes are UUIDs of version 8:
//
//	48 bits time in ms | version | 12 bits tag | variant | 14 bits tag | 48 bits position
//
// They sort by time, and the position of the message is computed: an index over random ids is the
// most expensive thing one can add to a queue (layout).
const (
	positionBits = 48
	tagBits      = 26
)

// newTag returns the random bits by which this process recognizes its own ids.
func newTag() uint32 { return rand.Uint32() >> (32 - tagBits) }

func makeMessageID(now time.Time, tag uint32, position int64) (id MessageID) {
	binary.BigEndian.PutUint64(id[:8], uint64(now.UnixMilli())<<16|0x8000|uint64(tag>>14))
	binary.BigEndian.PutUint64(id[8:], 0x8000<<positionBits|uint64(tag&0x3fff)<<positionBits|uint64(position&(1<<positionBits-1)))
	return id
}

// position returns the fields of an id that pawl may have made. Any UUID of version 8 looks like
// one, so the caller has to compare the whole id with the message's.
func (id MessageID) position() (position int64, tag uint32, ok bool) {
	hi, lo := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
	if hi>>12&0xf != 8 || lo>>62 != 2 {
		return 0, 0, false
	}
	tag = uint32(hi&0xfff)<<14 | uint32(lo>>positionBits&0x3fff)
	return int64(lo & (1<<positionBits - 1)), tag, true
}

// Position returns the position in the id, if pawl made it; 0 for others. The caller has to compare
// the whole id with the message's: any UUID of version 8 looks like one of pawl's.
func (id MessageID) Position() Position {
	position, _, _ := id.position()
	return Position(position)
}
