package check

import (
	"crypto/sha256"
	"encoding/hex"
)

// flags are what is known of a message.
type flags uint32

const (
	announced  flags = 1 << iota // an enqueue began
	enqueued                     // … and was committed, as its process knows
	rolledBack                   // … and was rolled back
	unsure                       // … and its outcome was unknown
	kept                         // it has a row in the ledger
	isTimer                      // a timer, scheduled by an event timer
	derived                      // of a job, a join or the inbox: nobody enqueued it by an event
	handled                      // a handler returned without an error
	begun                        // a handler began
	handling                     // … and has not returned; valid while there is a holder
	byClaim                      // the holder claimed it without a worker
	gaveUp                       // finished is a failure for good
	everFailed                   // it failed for good once, as its worker knows
	acking                       // an ack without a worker began
	isFlow                       // its handler is pawl's: nobody writes when it returns
)

// message is what is known of a message. There are millions.
type message struct {
	id        [16]byte
	flags     flags
	holder    int32 // the process that has claimed it, 0 for none
	since     int64 // from when, by its own events
	until     int64 // until when
	enqueued  int64 // the first moment at which it can have been committed
	committed int64 // when its process knew so
	finished  int64 // when a process knew that it is done or failed for good
	lastBegun int64 // under a lease that had not ended
	place     int64
	key       int32
	begins    uint32 // handlers that began, pawl's own included, and claims
	attempts  int32
	state     State
}

func (m *message) has(f flags) bool { return m.flags&f != 0 }
func (m *message) set(f flags)      { m.flags |= f }
func (m *message) unset(f flags)    { m.flags &^= f }

const chunk = 1 << 14

// messages is a table of messages by id.
type messages struct {
	index  map[[16]byte]int32
	chunks [][]message
	n      int
	others map[int32]string // ids that are no UUIDs
}

func newMessages() messages {
	return messages{index: map[[16]byte]int32{}, others: map[int32]string{}}
}

// get returns the message of an id, which is added if it is new, and its number.
func (t *messages) get(id string) (*message, int32) {
	key, uuid := parse(id)
	i, ok := t.index[key]
	if ok {
		return t.at(i), i
	}
	if t.n%chunk == 0 {
		t.chunks = append(t.chunks, make([]message, chunk))
	}
	i = int32(t.n)
	t.n++
	t.index[key] = i
	m := t.at(i)
	m.id = key
	if !uuid {
		t.others[i] = id
	}
	return m, i
}

func (t *messages) at(i int32) *message { return &t.chunks[i/chunk][i%chunk] }

func (t *messages) name(i int32) string {
	if s, ok := t.others[i]; ok {
		return s
	}
	h := hex.EncodeToString(t.at(i).id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// each calls do for all messages.
func (t *messages) each(do func(i int32, m *message)) {
	for i := range int32(t.n) {
		do(i, t.at(i))
	}
}

// parse returns the bytes of a UUID in its usual form; of anything else, a hash.
func parse(id string) (key [16]byte, uuid bool) {
	if len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		n := 0
		for i := 0; i < len(id); {
			if id[i] == '-' {
				i++
				continue
			}
			hi, lo := digit(id[i]), digit(id[i+1])
			if hi < 0 || lo < 0 {
				return hash(id), false
			}
			key[n] = byte(hi<<4 | lo)
			n, i = n+1, i+2
		}
		return key, true
	}
	return hash(id), false
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1 // upper case, too: it would be reported as lower case
}

func hash(s string) (key [16]byte) {
	sum := sha256.Sum256([]byte(s))
	copy(key[:], sum[:])
	return key
}
