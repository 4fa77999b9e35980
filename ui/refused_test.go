package ui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bravellian/pawl/ui"
)

// D-492: what is nil is refused where it is handed over.
func TestNilSources(t *testing.T) {
	for want, f := range map[string]func(){"Of(nil)": func() { ui.Of(nil) }, "OfFleet(nil)": func() { ui.OfFleet(nil) }} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.Contains(v, want) {
					t.Errorf("panic %q, want %q", v, want)
				}
			}()
			f()
		}()
	}
}

// D-722: what a page cannot read it shows as an error alone: an empty table beside it would say that there is nothing.
func TestWhatCannotBeReadIsNotNone(t *testing.T) {
	f := openEmpty(t)
	late := serve(t, ui.Of(f.Pawl), ui.Options{Timeout: time.Nanosecond})
	for _, path := range []string{"messages", "bulk", "topics", "joins", "inbox", "timers", "jobs", "leases", "workers", "audit"} {
		if _, body, _ := get(t, late, path); !strings.Contains(body, `role="alert"`) || strings.Contains(body, `class="none"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
}
