package checker

import (
	"fmt"
	"time"

	"github.com/bravellian/pawl/health"
)

// few bounds how many findings of a kind a report lists.
const few = 20

func ok(code, summary string, facts ...health.Fact) health.Finding {
	return health.Finding{Code: code, Level: health.OK, Summary: summary, Facts: facts}
}

func warn(code, summary, next string, facts ...health.Fact) health.Finding {
	return health.Finding{Code: code, Level: health.Warning, Summary: summary, NextStep: next, Facts: facts}
}

func problem(code, summary, next string, facts ...health.Fact) health.Finding {
	return health.Finding{Code: code, Level: health.Problem, Summary: summary, NextStep: next, Facts: facts}
}

func fact(key string, value any) health.Fact { return health.Fact{Key: key, Value: value} }

// span is a duration for people: 2m10s, 350ms.
func span(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d >= 24*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	}
	return d.Round(time.Second).String()
}

// several is a number of things; more says that there are more of them.
func several(n int64, more bool, what string) string {
	least := ""
	if more {
		least = "at least "
	}
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%s%d %s", least, n, what)
}

func are(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func were(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond)) / float64(time.Second)
}
