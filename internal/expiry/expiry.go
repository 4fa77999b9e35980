// Package expiry carries the time at which a message expires among its headers, so that what has
// none costs nothing, wherever messages are stored: in timers, waits of joins, and queues.
package expiry

import (
	"fmt"
	"maps"
	"time"
)

// Header is the name of the header: a time as RFC 3339 has it.
const Header = "pawl-expires"

// precision is what databases keep of a time.
const precision = time.Microsecond

// Put returns headers with the time at; the zero time adds none. It leaves headers as they are,
// and gives a time that they have already the form that every database can read.
func Put(headers map[string]string, at time.Time) map[string]string {
	if at.IsZero() {
		text, ok := headers[Header]
		if !ok {
			return headers
		}
		var err error
		if at, err = parse(text); err != nil {
			return headers
		}
	}
	all := make(map[string]string, len(headers)+1)
	maps.Copy(all, headers)
	all[Header] = at.UTC().Truncate(precision).Format(time.RFC3339Nano)
	return all
}

// Take removes the header and returns its time, the zero time if there is none, and the headers
// that are left, nil for none.
func Take(headers map[string]string) (rest map[string]string, at time.Time, err error) {
	text, ok := headers[Header]
	if !ok {
		return headers, at, nil
	}
	if at, err = parse(text); err != nil {
		return headers, at, err
	}
	delete(headers, Header)
	if len(headers) == 0 {
		headers = nil
	}
	return headers, at, nil
}

// Check returns an error if headers have one that is no time.
func Check(headers map[string]string) error {
	text, ok := headers[Header]
	if !ok {
		return nil
	}
	_, err := parse(text)
	return err
}

func parse(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("header %s is no time as RFC 3339 has it", Header)
	}
	return at.UTC(), nil
}
