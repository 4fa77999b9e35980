package timer_test

import (
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/dbtest"
	"github.com/bravellian/pawl/timer"
)

// D-208: a timer's message expires when the timer says.
func TestTimersWithExpiry(t *testing.T) { dbtest.Each(t, testTimersWithExpiry) }

func testTimersWithExpiry(t *testing.T, e dbtest.Engine) {
	f := open(t, e)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	id := f.put(timer.Timer{Topic: "t", Due: f.past(), Expires: at})
	if i := f.get(id, timer.Scheduled); !i.Expires.Equal(at) || i.Headers != nil {
		t.Errorf("%+v", i)
	}
	f.fires(1)
	if m := f.message(id); !m.Expires.Equal(at) {
		t.Errorf("%+v", m)
	}
}
