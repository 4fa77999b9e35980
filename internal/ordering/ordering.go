// Package ordering carries a message's ordering key among its headers, so that what has none
// costs nothing, wherever messages are stored: in timers, waits of joins, and queues.
package ordering

import (
	"crypto/md5" //nolint:gosec // spreads keys, as computed in SQL
	"encoding/binary"
	"encoding/json"
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

// Groups is how many times At may return: -Groups µs … -1 µs from 1970.
const Groups = 1 << 32

// At returns the time at which messages with a key become ready that are due at once: always the
// same one, so that a clock that is set back changes no order. It lies before 1970, in the 72 minutes
// of 2³² microseconds: each key has one, so that where messages lie in order of time, claims find
// those of a key behind any number of others.
func At(key string) time.Time {
	sum := md5.Sum([]byte(key))
	return time.UnixMicro(-1 - int64(binary.BigEndian.Uint32(sum[:]))).UTC()
}

// AtOf returns At of the ordering key in headers, which are JSON, else FairAt of the fair key.
func AtOf(headers *string) time.Time {
	var all map[string]string
	if headers != nil && json.Unmarshal([]byte(*headers), &all) != nil {
		all = nil // another program wrote them
	}
	if fair := all[FairHeader]; fair != "" && all[Header] == "" {
		return FairAt(fair, 0)
	}
	return At(all[Header])
}
