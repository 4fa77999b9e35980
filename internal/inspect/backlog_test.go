package inspect_test

import (
	"testing"

	"github.com/bravellian/pawl/internal/inspect"
)

// D-543: that there may be more of one state is not reported of another.
func TestMoreOfAState(t *testing.T) {
	all := []inspect.Amount{{State: "ready", Count: 2}, {State: "paused", Count: 3}, {State: "failed", Count: 4, More: true}, {State: "scheduled", Count: 5}}
	if n, more := inspect.Of(all, "ready", "paused"); n != 5 || more {
		t.Errorf("%d, %v", n, more)
	}
	if n, more := inspect.Of(all, "scheduled", "failed"); n != 9 || !more {
		t.Errorf("%d, %v", n, more)
	}
}
