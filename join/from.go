package join

import (
	"context"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/outbox"
)

// headerJoin says of which join a message is the follow-up.
const headerJoin = "pawl-join-id"

// withJoin returns headers with that of a join.
func withJoin(headers map[string]string, id ID) map[string]string {
	all := make(map[string]string, len(headers)+1)
	maps.Copy(all, headers)
	all[headerJoin] = id.String()
	return all
}

// From returns the joins that a handler's message comes from: that of which it is the follow-up,
// or else those of which it is a step, lowest id first, at most 100. There are none for other
// messages, and for joins that were cleaned up. Members tells how each step ended.
func (j *Joins) From(ctx context.Context, m *outbox.Message) ([]Info, error) {
	text, ok := m.Headers[headerJoin]
	if !ok {
		return j.read(ctx, op.JoinOf{ID: int64(m.Position), Most: 100})
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("join id %q: %w", text, err)
	}
	return j.read(ctx, op.JoinGet{JoinID: id})
}
