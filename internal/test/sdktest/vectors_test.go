package sdktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// vectors is sdk/vectors.json; sdk/README.md says how it is read.
type vectors struct {
	Vectors []struct {
		Name  string
		Steps []step
	}
}

type step struct {
	Call, SQL, Isolation, Save string
	With                       map[string]any
	Want                       json.RawMessage
	Error                      []string
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("../../../sdk/vectors.json")
	must(t, err)
	var v vectors
	must(t, json.Unmarshal(text, &v))
	return v
}

// D-804: the answers are those that programs in Python and TypeScript get from the same file, and the
// file is about all routines.
func TestVectors(t *testing.T) {
	url := migrated(t)
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	calls, called := 0, map[string]bool{}
	for i, v := range readVectors(t).Vectors {
		r := vectorRun{t: t, conn: conn, name: v.Name, known: map[string]any{"q": fmt.Sprintf("go-%d", i), "a": uuid.NewString(), "b": uuid.NewString(), "c": uuid.NewString()}}
		for _, s := range v.Steps {
			r.step(&s)
			if s.Call != "" && (s.Want != nil || s.Error != nil) {
				calls++
				called[s.Call] = true
			}
		}
	}
	if calls < 200 {
		t.Errorf("%d calls, want 200 at least", calls)
	}
	text, err := os.ReadFile("../../../docs/sql.md")
	must(t, err)
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)\\(").FindAllStringSubmatch(string(text), -1) {
		if !called[m[1]] {
			t.Errorf("no vector calls %s", m[1])
		}
	}
}

type vectorRun struct {
	t     *testing.T
	conn  *pgx.Conn
	name  string
	known map[string]any // by what {name} stands for
}

func (r *vectorRun) step(s *step) {
	r.t.Helper()
	got, err := r.run(s)
	if s.Error != nil {
		var e *pgconn.PgError
		if want := r.fill(s.Error[1]); !errors.As(err, &e) || e.Code != s.Error[0] || e.Message != want {
			r.t.Errorf("%s: %s%s%v: got %s %v, want %s %s", r.name, s.Call, s.SQL, s.With, got, err, s.Error[0], want)
		}
		return
	}
	var rows []any
	if err == nil && got != "" {
		err = json.Unmarshal([]byte(got), &rows)
	}
	if err != nil {
		r.t.Errorf("%s: %s%s%v: %v", r.name, s.Call, s.SQL, s.With, err)
		return
	}
	var want any
	if s.Want != nil && json.Unmarshal(s.Want, &want) == nil && !r.match(want, rows) {
		r.t.Errorf("%s: %s%s%v: got %s, want %s", r.name, s.Call, s.SQL, s.With, got, s.Want)
	}
	if s.Save != "" && len(rows) > 0 {
		r.known[s.Save] = rows[0]
	}
}

// run answers the rows as a JSON array.
func (r *vectorRun) run(s *step) (got string, err error) {
	ctx := r.t.Context()
	if s.Isolation != "" {
		if _, err := r.conn.Exec(ctx, "BEGIN ISOLATION LEVEL "+s.Isolation); err != nil {
			return "", err
		}
		defer func() { _, _ = r.conn.Exec(ctx, "ROLLBACK") }()
	}
	if s.SQL != "" && s.Want == nil && s.Save == "" {
		_, err := r.conn.Exec(ctx, r.fill(s.SQL))
		return "", err
	}
	query, args := fmt.Sprintf("SELECT coalesce(jsonb_agg(v), '[]')::text FROM (%s) x(v)", r.fill(s.SQL)), []any(nil)
	if s.Call != "" {
		var with []string
		for _, name := range slices.Sorted(keys(s.With)) {
			args = append(args, r.argument(s.With[name]))
			with = append(with, fmt.Sprintf("%s => $%d", name, len(args)))
		}
		query = fmt.Sprintf("SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]')::text FROM pawl.%s(%s) r", s.Call, strings.Join(with, ", "))
	}
	err = r.conn.QueryRow(ctx, query, args...).Scan(&got)
	return got, err
}

// argument is a value as it is sent: a text of no type, or NULL.
func (r *vectorRun) argument(v any) any {
	if v == nil {
		return nil
	}
	return r.fill(text(v))
}

var placeholder = regexp.MustCompile(`\{([a-z]\w*)(?:\.(\w+))?\}`)

func (r *vectorRun) fill(s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		v := r.known[m[1]]
		if row, ok := v.(map[string]any); ok {
			v = row[m[2]]
		}
		return text(v)
	})
}

// match: "*" is anything; of an object the fields that are named; the rest as text.
func (r *vectorRun) match(want, got any) bool {
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		return ok && len(g) == len(w) && !slices.ContainsFunc(indexes(w), func(i int) bool { return !r.match(w[i], g[i]) })
	case map[string]any:
		g, ok := got.(map[string]any)
		for name, v := range w {
			ok = ok && r.match(v, g[name])
		}
		return ok
	}
	return want == "*" || r.fill(text(want)) == text(got)
}

// D-804
func TestVectorsInOtherLanguages(t *testing.T) {
	for language, args := range map[string][]string{
		"python":     {python, "tests/vectors.py"},
		"typescript": {node, "dist/test/vectors.js"},
	} {
		t.Run(language, func(t *testing.T) {
			var output strings.Builder
			cmd := program(t.Context(), migrated(t), &output, args...)
			cmd.Dir = "../../../sdk/" + language
			if err := cmd.Run(); err != nil {
				t.Errorf("%v\n%s", err, output.String())
			}
		})
	}
}
