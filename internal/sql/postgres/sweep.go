package postgres

import (
	"math"
	"time"
)

// A sweep reads what is below a mark in parts, from the mark down to the bottom and then again, while
// that has many entries that nobody can see: what was claimed or settled since a snapshot was taken that
// is still open. Each part is as wide as one with the entries that the time since the last one is worth.
// With a snapshot held for an hour at 400 messages a second these are 1 440 000 entries, and one
// round takes about 70 s; to read them all took a claim a second. It begins after two reads of everything
// in a row that met many: the first one has the server mark those that no snapshot keeps.
type sweep struct {
	width   int64 // of the next part; 0: there are few entries, which are read at once
	many    bool  // the last read of everything met many: no snapshot keeps what the next one does not meet again
	low     int64 // what is above was read in this round
	entries int   // that were read in this round
	last    time.Time
}

const (
	bottom = math.MinInt64
	top    = math.MaxInt64

	fewEntries  = 1000                              // are read at once
	perMilli    = 20                                // entries that a millisecond is worth: a fiftieth of it
	leastPart   = 100                               // entries
	mostOfPart  = 20_000                            // entries
	unit        = int64(time.Second / 1000)         // the first part of a round is a second, in microseconds
	widestPart  = 60 * unit                         // of what is near, which has most entries
	deepestPart = int64(30 * 24 * time.Hour / 1000) // what is further away is one part
)

// from returns where what is not below a mark begins: at the bottom while all is read at once, or if there is no mark.
func (s *sweep) from(mark time.Time) int64 {
	if s.width == 0 || mark.IsZero() {
		return bottom
	}
	return mark.Add(-markMargin).UnixMicro()
}

// part returns the next part below a mark.
func (s *sweep) part(mark int64) (low, high int64) {
	if s.width == 0 {
		return bottom, mark
	}
	if high = mark; s.low != bottom {
		high = min(mark, s.low)
	}
	if low = high - min(s.width, max(widestPart, (mark-high)/16)); mark-low > deepestPart {
		low = bottom
	}
	return low, high
}

// learn goes on below low, or begins again.
func (s *sweep) learn(low int64, entries int, now time.Time) {
	worth := min(max(leastPart, perMilli*int(now.Sub(s.last).Milliseconds())), mostOfPart)
	s.last = now
	if s.width == 0 {
		again := s.many
		if s.many = entries > fewEntries; s.many && again {
			s.width, s.low, s.entries = unit, bottom, 0
		}
		return
	}
	s.entries += max(entries, 0)
	s.width = max(1000, int64(float64(s.width)*min(2, float64(worth)/float64(max(entries, 1)))))
	if s.low = low; low != bottom {
		return
	}
	if s.width = unit; s.entries <= fewEntries {
		s.width, s.many = 0, false
	}
	s.entries = 0
}
