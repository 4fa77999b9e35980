package ordering

import (
	"strconv"
	"time"
)

// FairHeader is the name of the header that says with which messages a message shares turns.
const FairHeader = "pawl-fair-key"

// FairAt returns the time at which messages with a fair key become ready that are due at once, in the 72
// minutes before those of At: claims find each key's behind any number of others. turn, from 0 on, chooses one
// of several times, each of which gets as many turns as another key.
func FairAt(key string, turn int) time.Time {
	if turn > 0 {
		key += "\x00" + strconv.Itoa(turn)
	}
	return At(key).Add(-Groups * time.Microsecond)
}
