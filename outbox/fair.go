package outbox

import (
	"maps"
	"math/rand/v2"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/ordering"
)

// turnOf returns when a message without an ordering key becomes ready that takes turns, and headers with its key,
// by which it takes them again after a failed attempt; nil: it takes none. A key that another program
// put among the headers wins.
func (o *Outbox) turnOf(m *Message, headers map[string]string) (at *time.Time, with map[string]string, err error) {
	key := m.Headers[ordering.FairHeader]
	if header, ok := o.opts.Fair[m.queue()]; ok && key == "" {
		if key = m.Topic; header != "" {
			key = m.Headers[header]
		}
	}
	if key == "" || m.Priority != 0 {
		return nil, headers, nil
	}
	if err := engine.CheckText("fair key", key, limits.OrderingKey, true); err != nil {
		return nil, nil, err
	}
	turn := 0
	if weight := o.opts.FairWeights[key]; weight > 1 {
		turn = rand.IntN(weight)
	}
	with = make(map[string]string, len(headers)+1)
	maps.Copy(with, headers)
	with[ordering.FairHeader] = key
	group := ordering.FairAt(key, turn)
	return &group, with, nil
}
