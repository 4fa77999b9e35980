package outbox

import (
	"maps"
	"math/rand/v2"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/limits"
	"github.com/bravellian/pawl/internal/ordering"
	"github.com/bravellian/pawl/internal/worker"
)

// Fair is how the messages of a queue take turns: see pawl.Options.Fair.
type Fair = worker.Fair

// turnOf returns the key by which a message takes turns, and which of the key's; "": it takes none. Another program's
// header wins.
func (o *Outbox) turnOf(m *Message) (key string, turn int) {
	if m.Priority != 0 {
		return "", 0
	}
	fair, ok := o.opts.Fair[m.queue()]
	key = m.Headers[ordering.FairHeader]
	switch {
	case key != "" || !ok:
	case fair.Header == "":
		key = m.Topic
	default:
		key = m.Headers[fair.Header]
	}
	if weight := fair.Weights[key]; weight > 1 {
		turn = rand.IntN(weight)
	}
	return key, turn
}

// withFairKey returns headers with a fair key, by which the message takes its turn again after a failed attempt.
func withFairKey(headers map[string]string, key string) (map[string]string, error) {
	if err := engine.CheckText("fair key", key, limits.OrderingKey, true); err != nil {
		return nil, err
	}
	all := make(map[string]string, len(headers)+1)
	maps.Copy(all, headers)
	all[ordering.FairHeader] = key
	return all, nil
}
