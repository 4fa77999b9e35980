package cron

import "strings"

const (
	monthNames   = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
	weekdayNames = "SUNMONTUEWEDTHUFRISAT"
)

// A field is what may stand in one place of an expression.
type field struct {
	name     string
	min, max int
	names    string // of the values from min on, three letters each
	week     bool   // 7 is another word for 0
}

// top is the highest value that "*" means.
func (f *field) top() int {
	if f.week {
		return f.max - 1
	}
	return f.max
}

// A reader goes through the text of one field.
type reader struct {
	field
	word
	next int // in text
}

// parseSet reads a field of plain parts into a set.
func parseSet(w word, f field) (uint64, error) {
	r := &reader{field: f, word: w}
	var set uint64
	err := r.list(func() error {
		part, err := r.part()
		set |= part
		return err
	})
	return set, err
}

func (r *reader) fault(format string, args ...any) error {
	return fault(r.name, r.pos+r.next, format, args...)
}

// peek returns the next character in upper case, or 0 at the end.
func (r *reader) peek() byte {
	if r.next == len(r.text) {
		return 0
	}
	c := r.text[r.next]
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// take goes past the next character if it is this one.
func (r *reader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.next++
	return true
}

// list reads parts with commas between them.
func (r *reader) list(part func() error) error {
	for {
		if r.next == len(r.text) || r.peek() == ',' {
			return r.fault("empty part")
		}
		if err := part(); err != nil {
			return err
		}
		if r.next == len(r.text) {
			return nil
		}
		if !r.take(',') {
			return r.fault("unexpected character")
		}
	}
}

// part reads a value, a range or a star, each perhaps with a step.
func (r *reader) part() (uint64, error) {
	low, high := r.min, r.top()
	star := r.take('*')
	if !star {
		var err error
		if low, high, err = r.span(); err != nil {
			return 0, err
		}
	}
	step := 1
	if r.take('/') {
		var err error
		// A step beyond the field is not what it looks like: */90 minutes would
		// be every hour.
		if step, err = r.number(1, r.top()-r.min+1); err != nil {
			return 0, err
		}
	}
	var set uint64
	for v := low; v <= high; v += step {
		set |= 1 << v
	}
	if r.week {
		set = set&0x7f | set>>7&1
	}
	return set, nil
}

// span reads a range, or a value: as a range of itself, or when a step follows
// as one to the end of the field.
func (r *reader) span() (low, high int, err error) {
	if low, err = r.value(); err != nil {
		return 0, 0, err
	}
	if r.peek() == '/' {
		return low, max(low, r.top()), nil
	}
	if !r.take('-') {
		return low, low, nil
	}
	start := r.next
	if high, err = r.value(); err != nil {
		return 0, 0, err
	}
	if r.week && high == 0 && low > 0 && r.peekedName(start) {
		high = 7
	}
	if high < low {
		r.next = start
		return 0, 0, r.fault("the range runs backwards")
	}
	return low, high, nil
}

// peekedName tells whether what was read at a place was a name.
func (r *reader) peekedName(at int) bool {
	c := r.text[at]
	return c < '0' || c > '9'
}

// value reads a number of the field or a name.
func (r *reader) value() (int, error) {
	if c := r.peek(); c >= '0' && c <= '9' {
		return r.number(r.min, r.max)
	}
	if r.names == "" {
		return 0, r.fault("a number is wanted")
	}
	if end := r.next + 3; end <= len(r.text) {
		name := strings.ToUpper(r.text[r.next:end])
		for i := 0; i < len(r.names); i += 3 {
			if r.names[i:i+3] == name {
				r.next = end
				return r.min + i/3, nil
			}
		}
	}
	return 0, r.fault("a number or a three-letter name is wanted")
}

// number reads digits.
func (r *reader) number(low, high int) (int, error) {
	start, n := r.next, 0
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		n = min(10*n+int(c-'0'), 1000) // large enough to be refused
		r.next++
	}
	switch {
	case r.next == start:
		return 0, r.fault("a number is wanted")
	case n < low || n > high:
		r.next = start
		return 0, r.fault("not within %d-%d", low, high)
	}
	return n, nil
}

// valueBefore reads a value if this character follows it, and else nothing.
func (r *reader) valueBefore(c byte) (int, bool) {
	start := r.next
	if v, err := r.value(); err == nil && r.take(c) {
		return v, true
	}
	r.next = start
	return 0, false
}
