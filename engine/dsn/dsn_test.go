package dsn_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/engine/dsn"
)

// D-5: what is shown of a URL holds no password, however wrong it is.
func TestRedact(t *testing.T) {
	const secret = "12secret"
	for text, want := range map[string]string{
		"postgres://u:12secret@h/d?sslmode=require":        "postgres://u:xxxxx@h/d?sslmode=require",
		"postgres://h/d?password=12secret":                 "postgres://h/d?password=xxxxx",
		"postgres://h/d?sslPassword=12secret&a=b":          "postgres://h/d?a=b&sslPassword=xxxxx",
		"postgres://h/d?password=12secret;x":               "postgres://h/d",
		"postgres://h/d?a=b&password=12secret%zz":          "postgres://h/d",
		"postgres://h/d?user=me@corp":                      "postgres://h/d?user=me@corp",
		"postgres://u@h/d#12secret":                        "postgres://u@h/d",
		"postgres://u:12secret%zz@h/d":                     "postgres://…",
		"postgres://u:12/12secret@h/d":                     "postgres://…",
		"postgres://u:12?12secret@h/d":                     "postgres://…",
		"postgres://u:12?a=b&12secret@h/d":                 "postgres://…",
		"postgres://u:12#12secret@h/d":                     "postgres://…",
		"postgres:password=12secret":                       "postgres://…",
		"12secret":                                         "…",
		"host=h password=12secret":                         "…",
		"host=h password=x:12secret":                       "…",
		"host=h user=u password=12secret://x dbname=a%zzb": "…",
	} {
		if got := dsn.Redact(text); got != want || strings.Contains(got, secret) {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}

func TestTorn(t *testing.T) {
	for _, whole := range []string{"postgres://u:p@h/d@e", "postgres://h/d?user=me@corp", "postgres://h/d%40e", "host=h password=a@b", "sqlite:a@b.db"} {
		if dsn.Torn(whole) {
			t.Errorf("%s is torn", whole)
		}
	}
}
