package expiry_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/expiry"
)

// D-208: every time is stored in one form, which each database can read.
func TestPut(t *testing.T) {
	at := time.Date(2030, 1, 31, 12, 0, 0, 123456789, time.FixedZone("", 2*3600))
	const want = "2030-01-31T10:00:00.123456Z"
	given := map[string]string{expiry.Header: "2030-01-31T12:00:00.123456789+02:00", "k": "v"}
	for _, got := range []map[string]string{expiry.Put(map[string]string{"k": "v"}, at), expiry.Put(given, time.Time{})} {
		if got[expiry.Header] != want || got["k"] != "v" || len(got) != 2 {
			t.Errorf("%q", got)
		}
	}
	if given[expiry.Header] == want {
		t.Error("the caller's headers were changed")
	}
	if got := expiry.Put(nil, time.Time{}); got != nil {
		t.Errorf("%q", got)
	}
	rest, back, err := expiry.Take(expiry.Put(nil, at))
	if err != nil || rest != nil || !back.Equal(at.Truncate(time.Microsecond)) {
		t.Errorf("%q, %v, %v", rest, back, err)
	}
}
