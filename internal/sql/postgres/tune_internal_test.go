package postgres

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// OBX-017, D-21: a claim of a worker loop begins at the mark, and reads what is below it afterwards, or, a
// second after the last one that did so, first; any other claim reads everything, and so does the next one of
// the loop after one that was not full.
func TestMark(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	mark := at.Add(-markMargin).UnixMicro()
	fresh, below, whole := [2]int64{mark, top}, [2]int64{bottom, mark}, [2]int64{bottom, top}
	now := at
	tuner := &tuner{perRow: 1}
	claim := func(loops bool, got int, expect ...[2]int64) {
		t.Helper()
		c := &claimed{began: now, byLoop: loops}
		if _, ranges := tuner.hint(10, c); !slices.Equal(ranges, expect) {
			t.Errorf("the claim reads %v", ranges)
		}
		c.n, c.oldest = got, at
		tuner.learn(10, c, now)
	}
	claim(true, 10, whole)
	for range 2 {
		claim(true, 10, below, fresh)
		now = now.Add(belowEvery - 1)
		claim(true, 10, fresh, below)
		claim(false, 10, whole)
		claim(true, 9, fresh, below)
		claim(true, 10, whole)
		now = now.Add(1)
	}
}

// D-669: while much is below the mark, a claim reads what is near it, and one in a while all of the margin.
func TestNearTheMark(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tuner := &tuner{perRow: 1, mark: now, nextBelow: now.Add(time.Hour), below: sweep{width: unit, low: bottom}}
	for range 3 {
		for _, margin := range []time.Duration{markMargin, nearMargin, nearMargin} {
			c := &claimed{began: now, byLoop: true}
			_, ranges := tuner.hint(10, c)
			if !c.parts {
				t.Error("the claim looks for a priority that waits")
			}
			if from := tuner.mark.Add(-margin).UnixMicro(); ranges[0] != [2]int64{from, top} {
				t.Errorf("the claim begins at %d, not at %d", ranges[0][0], from)
			}
			now = now.Add(nearEvery / 3)
		}
		if _, ranges := tuner.hint(10, &claimed{began: now.Add(-1), byLoop: true, all: true}); ranges[0][0] != tuner.mark.Add(-markMargin).UnixMicro() {
			t.Errorf("a claim that is to leave nothing begins at %d", ranges[0][0])
		}
		now = now.Add(nearEvery)
	}
}

// D-669: below the mark a claim reads all until that has had many entries twice, and then parts of about as many as
// the time since the last one is worth; every entry is in a part of each round; and a round that finds few
// is the last one.
func TestSweep(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	mark := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, age := range map[string]func() time.Duration{
		"evenly":  func() time.Duration { return time.Duration(random.Int64N(int64(time.Hour))) },
		"at once": func() time.Duration { return 10 * time.Second },
		"of old":  func() time.Duration { return 24*time.Hour + time.Duration(random.Int64N(int64(time.Hour))) },
		"burst":   func() time.Duration { return time.Minute + time.Duration(random.Int64N(int64(time.Second))) },
	} {
		var entries []int64
		for range 200_000 {
			entries = append(entries, mark.Add(-age()).UnixMicro())
		}
		slices.Sort(entries)
		count := func(low, high int64) int {
			from, _ := slices.BinarySearch(entries, low)
			to, _ := slices.BinarySearch(entries, high+1)
			return to - from
		}
		now, s := mark, sweep{low: bottom}
		step := func() (low, high int64, n int) {
			low, high = s.part(mark.UnixMicro())
			n = count(low, high)
			now = now.Add(10 * time.Millisecond)
			s.learn(low, n, now)
			return low, high, n
		}
		for nr := range 2 {
			if low, high, n := step(); low != bottom || high != mark.UnixMicro() || n != len(entries) || (s.width > 0) != (nr == 1) {
				t.Fatalf("%s: part %d is %d to %d, and the next one as wide as %d", name, nr, low, high, s.width)
			}
		}
		for range 3 {
			reached, parts, read, large := mark.UnixMicro(), 0, 0, 0
			for reached != bottom {
				low, high, n := step()
				if high < reached || low >= high {
					t.Fatalf("%s: the part from %d to %d leaves out what is above, up to %d", name, low, high, reached)
				}
				if reached, parts, read = low, parts+1, read+n; n > 10*perMilli*10 {
					large++
				}
			}
			if read < len(entries) || read > len(entries)+2*parts || large > max(2, parts/20) && name == "evenly" {
				t.Errorf("%s: a round of %d parts, of which %d were large, read %d entries", name, parts, large, read)
			}
		}
		entries = entries[:10]
		for range 100_000 {
			if step(); s.width == 0 {
				break
			}
		}
		if low, high := s.part(mark.UnixMicro()); low != bottom || high != mark.UnixMicro() {
			t.Errorf("%s: with few entries the next part is %d to %d", name, low, high)
		}
	}
}
