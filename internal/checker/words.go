package checker

import (
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// few bounds how many findings of a kind a report lists.
const few = 20

func ok(code, summary string, facts ...health.Fact) health.Finding {
	return engine.CodedFinding(health.OK, code, summary, "", facts...)
}

func warn(code, summary, next string, facts ...health.Fact) health.Finding {
	return engine.CodedFinding(health.Warning, code, summary, next, facts...)
}

func problem(code, summary, next string, facts ...health.Fact) health.Finding {
	return engine.CodedFinding(health.Problem, code, summary, next, facts...)
}

func fact(key string, value any) health.Fact { return health.Fact{Key: key, Value: value} }

func are(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond)) / float64(time.Second)
}
