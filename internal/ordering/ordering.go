// Package ordering carries a message's ordering key among its headers, so that what has none
// costs nothing, wherever messages are stored: in timers, waits of joins, and queues.
package ordering

import (
	"maps"
	"time"
)

// Header is the name of the header.
const Header = "pawl-ordering-key"

// Put returns headers with a key; without one they stay as they are.
func Put(headers map[string]string, key string) map[string]string {
	if key == "" {
		return headers
	}
	all := make(map[string]string, len(headers)+1)
	maps.Copy(all, headers)
	all[Header] = key
	return all
}

// Take removes the header and returns its key, "" if there is none, and the headers that are
// left, nil for none.
func Take(headers map[string]string) (rest map[string]string, key string) {
	key, ok := headers[Header]
	if !ok {
		return headers, ""
	}
	delete(headers, Header)
	if len(headers) == 0 {
		headers = nil
	}
	return headers, key
}

// At returns the time at which messages with a key become ready that are due at once: always the
// same one, so that a clock that is set back changes no order.
func At() time.Time { return time.Unix(0, 0).UTC() }
