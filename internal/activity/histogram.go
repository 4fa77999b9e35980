package activity

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"
)

// buckets is how many a histogram has; the last one has what is longer than every bound.
const buckets = 20

// bounds returns the upper bounds of the buckets but for the last one.
func bounds() [buckets - 1]time.Duration {
	const ms, s, m = time.Millisecond, time.Second, time.Minute
	return [...]time.Duration{
		ms, 2 * ms, 5 * ms, 10 * ms, 20 * ms, 50 * ms, 100 * ms, 200 * ms, 500 * ms, s, 2 * s, 5 * s, 10 * s, 30 * s, m, 5 * m, 10 * m, time.Hour, 6 * time.Hour,
	}
}

// Bounds returns the upper bounds of a histogram's buckets but for the last one, in order.
func Bounds() []time.Duration {
	all := bounds()
	return all[:]
}

// Histogram is how many durations were within each bound and above the one before it.
type Histogram [buckets]int64

func (h *Histogram) add(d time.Duration) {
	all := bounds()
	h[sort.Search(len(all), func(i int) bool { return d <= all[i] })]++
}

func (h *Histogram) merge(other *Histogram) {
	for i, n := range other {
		h[i] += n
	}
}

// Count returns how many durations there are.
func (h *Histogram) Count() (n int64) {
	for _, one := range h {
		n += one
	}
	return n
}

// Quantile returns the bound within which a share of the durations is, 0 … 1. ok is false if there
// are none; the bound is 0 if they are longer than every bound.
func (h *Histogram) Quantile(share float64) (bound time.Duration, ok bool) {
	n := h.Count()
	if n == 0 {
		return 0, false
	}
	all, sum := Bounds(), int64(0)
	for i, one := range h[:len(all)] {
		if sum += one; float64(sum) >= share*float64(n) {
			return all[i], true
		}
	}
	return 0, true
}

// text is the histogram as JSON, without the zeros at its end.
func (h *Histogram) text() string {
	n := buckets
	for n > 0 && h[n-1] == 0 {
		n--
	}
	text, _ := json.Marshal(h[:n]) // numbers always can
	return string(text)
}

func (h *Histogram) read(text string) error {
	var all []int64
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return err
	}
	if len(all) > buckets {
		return fmt.Errorf("a histogram of %d buckets", len(all))
	}
	copy(h[:], all)
	return nil
}
