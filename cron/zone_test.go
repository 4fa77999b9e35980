package cron_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/bravellian/pawl/cron"
)

// madeZone makes a zone that changes its offset, in minutes, at these seconds
// since 1970 (RFC 9636, version 1).
func madeZone(t *testing.T, at []int32, offsets []int32) *time.Location {
	t.Helper()
	var b bytes.Buffer
	put := func(v any) {
		if err := binary.Write(&b, binary.BigEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("TZif")
	b.Write(make([]byte, 16))
	put([]uint32{0, 0, 0, uint32(len(at)), uint32(len(offsets)), 4})
	put(at)
	for i := range at {
		put(uint8(i + 1))
	}
	for _, offset := range offsets {
		put(offset * 60)
		put([]uint8{0, 0})
	}
	b.WriteString("ABC\x00")
	zone, err := time.LoadLocationFromTZData("made", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// A clock that goes from 02:00 to 03:00 and, at 03:10, back to 02:10: no zone
// ever did. What was passed once counts as passed.
//
// D-81
func TestGapThatIsEnteredLater(t *testing.T) {
	day := int32(100 * 86400)
	zone := madeZone(t, []int32{day + 2*3600, day + 2*3600 + 600}, []int32{0, 60, 0})
	for _, c := range []struct {
		expr string
		want []time.Duration // since the day began
	}{
		{"30 2 * * *", []time.Duration{2 * time.Hour, 26*time.Hour + 30*time.Minute}},
		{"5 3 * * *", []time.Duration{2*time.Hour + 5*time.Minute, 27*time.Hour + 5*time.Minute}},
		{"0 2,3 * * *", []time.Duration{2 * time.Hour, 26 * time.Hour}},
		{"*/30 2 * * *", []time.Duration{2*time.Hour + 30*time.Minute, 26 * time.Hour}},
	} {
		s, err := cron.Parse(c.expr)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(day), 0)
		for _, want := range c.want {
			next, ok := s.Next(at, zone)
			if got := next.Sub(time.Unix(int64(day), 0)); !ok || got != want {
				t.Errorf("%q after %v: %v, want %v", c.expr, at.UTC(), got, want)
			}
			at = next
		}
	}
}

// A zone that changes all the time is gone through all the same.
//
// D-81
func TestRestlessZone(t *testing.T) {
	var at, offsets []int32
	for i := range int32(200) {
		at = append(at, i*3600)
		offsets = append(offsets, i*7919%1440-720)
	}
	zone := madeZone(t, at, append(offsets, 0))
	for _, expr := range []string{"30 2 * * *", "*/5 2 * * *", "0 0 29 2 */7"} {
		s, err := cron.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(-86400, 0)
		for range 200 {
			next, ok := s.Next(at, zone)
			if !ok || !next.After(at) {
				t.Fatalf("%q after %v: %v, %v", expr, at, next, ok)
			}
			at = next
		}
	}
}
