package outbox

import (
	"maps"
	"math/rand/v2"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/worker"
)

// Fair is how the messages of a queue take turns: see pawl.Options.Fair.
type Fair = worker.Fair

// turnOf returns when a message without an ordering key becomes ready that takes turns, and headers with its key,
// by which it takes them again after a failed attempt; the zero time: it takes none. A key that another program
// put among the headers wins.
func (o *Outbox) turnOf(m *Message, headers map[string]string) (at time.Time, with map[string]string, err error) {
	fair, key := o.opts.Fair[m.queue()], m.Headers[ordering.FairHeader]
	if _, ok := o.opts.Fair[m.queue()]; ok && key == "" {
		if key = m.Topic; fair.Header != "" {
			key = m.Headers[fair.Header]
		}
	}
	if key == "" || m.Priority != 0 {
		return at, headers, nil
	}
	if err := engine.CheckText("fair key", key, limits.OrderingKey, true); err != nil {
		return at, nil, err
	}
	turn := 0
	if weight := fair.Weights[key]; weight > 1 {
		turn = rand.IntN(weight)
	}
	with = make(map[string]string, len(headers)+1)
	maps.Copy(with, headers)
	with[ordering.FairHeader] = key
	return ordering.FairAt(key, turn), with, nil
}
