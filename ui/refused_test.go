package ui_test

import (
	"strings"
	"testing"

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
