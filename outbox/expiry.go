package outbox

import (
	"time"

	"github.com/bravellian/pawl/internal/expiry"
)

// A message expires by the database's clock. A claim returns what time it is there, in the
// end of the lease. From then on the process's clock measures, from before the request, so that no
// attempt begins too late.

// takeExpiry sets the time at which a stored message expires.
func (m *Message) takeExpiry() (err error) {
	m.Headers, m.Expires, err = expiry.Take(m.Headers)
	return err
}

// limit sets the last moment at which an attempt may begin, by this process's clock: its now is not
// later than the database's, there.
func (m *Message) limit(now, there time.Time) {
	if !m.Expires.IsZero() {
		m.ensureExtras().expires = now.Add(m.Expires.Sub(there))
	}
}

// expired reports whether no attempt may begin any more.
func (m *Message) expired() bool {
	return m.extras != nil && !m.extras.expires.IsZero() && !time.Now().Before(m.extras.expires)
}
