package tdstest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// notes is a test that notes failures.
type notes struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (n *notes) Errorf(format string, args ...any) {
	n.failures = append(n.failures, fmt.Sprintf(format, args...))
}
func (n *notes) Cleanup(f func()) { n.cleanups = append(n.cleanups, f) }

func (n *notes) end() string {
	for i := len(n.cleanups) - 1; i >= 0; i-- {
		n.cleanups[i]()
	}
	return strings.Join(n.failures, "\n")
}

func TestScript(t *testing.T) {
	steps := []tdstest.Step{
		{Kind: tdstest.Begin},
		{Kind: tdstest.Call, Like: []string{"DELETE", "pawl.t"}, Check: func(t testing.TB, r *tdstest.Request) {
			if r.Param("p1").Value != int64(8) {
				t.Errorf("%v", r.Params)
			}
		}},
		{Kind: tdstest.Commit},
	}
	for name, c := range map[string]struct {
		query string
		arg   int64
		left  int
		want  string
	}{
		"as expected":     {"DELETE FROM pawl.t WHERE id = @p1", 8, 0, ""},
		"another text":    {"DELETE FROM pawl.u WHERE id = @p1", 8, 0, `a step with "pawl.t", but a call of sp_executesql: DELETE FROM pawl.u WHERE id = @p1`},
		"another value":   {"DELETE FROM pawl.t WHERE id = @p1", 9, 0, "9"},
		"one is missing":  {"DELETE FROM pawl.t WHERE id = @p1", 8, 1, "step 4 did not come: batch"},
		"one is too many": {"DELETE FROM pawl.t WHERE id = @p1", 8, -1, "no step expects a commit"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &notes{TB: t}
			s, script := tdstest.NewScript(n, steps[:3+min(c.left, 0)]...)
			if c.left > 0 {
				script.Expect(tdstest.Step{Kind: tdstest.Batch})
			}
			pool := open(t, s)
			tx, err := pool.Begin()
			must(t, err)
			_, _ = tx.Exec(c.query, c.arg)
			_ = tx.Commit()
			_ = pool.Close()
			if left := script.Left(); left != max(c.left, 0) {
				t.Errorf("%d steps are left", left)
			}
			if got := n.end(); !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("failures: %s", got)
			}
		})
	}
}
