package dsn_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/enginekit/dsn"
)

// D-5: what is shown of a URL holds no password, however wrong it is.
func TestRedact(t *testing.T) {
	const secret = "12secret"
	for text, want := range map[string]string{
		"postgres://u:12secret@h/d?sslmode=require":                                 "postgres://u:xxxxx@h/d?sslmode=require",
		"postgres://h/d?password=12secret":                                          "postgres://h/d?password=xxxxx",
		"postgres://h/d?sslPassword=12secret&a=b":                                   "postgres://h/d?a=b&sslPassword=xxxxx",
		"postgres://h/d?password=12secret;x":                                        "postgres://h/d",
		"postgres://h/d?a=b&password=12secret%zz":                                   "postgres://h/d",
		"postgres://h/d?user=me@corp":                                               "postgres://h/d?user=me@corp",
		"postgres://u@h/d#12secret":                                                 "postgres://u@h/d",
		"postgres://u:12secret%zz@h/d":                                              "postgres://…",
		"postgres://u:12/12secret@h/d":                                              "postgres://…",
		"postgres://u:12?12secret@h/d":                                              "postgres://…",
		"postgres://u:12?a=b&12secret@h/d":                                          "postgres://…",
		"postgres://u:12#12secret@h/d":                                              "postgres://…",
		"postgres:password=12secret":                                                "postgres://…",
		"postgres://u:12secret@a:5432,[::1]:5433/d?target_session_attrs=read-write": "postgres://u:xxxxx@a:5432,[::1]:5433/d?target_session_attrs=read-write",
		"postgres://a:1,b/d?password=12secret":                                      "postgres://a:1,b/d?password=xxxxx",
		"postgres://u:x,12secret@h/d":                                               "postgres://u:xxxxx@h/d",
		"postgres://u@a:1,b%2F12secret:2/d":                                         "postgres://…",
		"postgres://u:p@a:1,u:12secret@b:2/d":                                       "postgres://…",
		"12secret":                                                                  "…",
		"host=h password=12secret":                                                  "…",
		"host=h password=x:12secret":                                                "…",
		"host=h user=u password=12secret://x dbname=a%zzb":                          "…",
	} {
		if got := dsn.Redact(text); got != want || strings.Contains(got, secret) {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}

// D-5: what a driver would take for something else than it is meant to be is refused,
// and nothing else.
func TestCheck(t *testing.T) {
	for _, fine := range []string{
		"postgres://u:p%40h@h/d", "postgres://h/d?user=me@corp&sslmode=require", "postgres://h/d%40e", "postgres://h", "postgresql://u@h1:1,h2:2/d?target_session_attrs=any",
		"postgres://u@[::1]:5432/d", "postgres:///d?host=/var/run/postgresql", "postgres:///d?host=@abstract", "host=h password=a@b user='me@corp'", "host=@abstract", `host=h password='a host=b\' host=c'`, `password=a\ host=b host=h`, "", "  ", "service=main", "sqlite:a@b.db",
	} {
		if err := dsn.Check(fine); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
	for wrong, want := range map[string]error{
		"postgres://u:top@12secret@h/d": dsn.ErrAt, "postgres://u:p@h1:1,u:12secret@h2/d": dsn.ErrAt, "postgres://a@b@h": dsn.ErrAt,
		"postgres://u:p@12secret/x@h/d": dsn.ErrTruncated, "postgres://u:12?x=12secret@h/d": dsn.ErrTruncated, "postgres://u:a@b?12secret@h": dsn.ErrTruncated, "postgres://u:1#12secret@h": dsn.ErrTruncated,
		"postgres://u:12secret%zz@h/d": dsn.ErrForm, "postgres://u:12 secret@h/d": dsn.ErrForm, "postgres://h/d?password=12secret;x": dsn.ErrForm, "postgres://u:12secret/d": dsn.ErrForm,
		"host=u:12secret@h port=1": dsn.ErrHost, "port=1 host = 'u:12secret@h'": dsn.ErrHost, "host=h password=a host=12secret": dsn.ErrTwice, `password='' HOST='12secret' host=h`: dsn.ErrTwice, "postgres:///d?host=u:12secret@h": dsn.ErrHost,
	} {
		if err := dsn.Check(wrong); !errors.Is(err, want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %v", wrong, err, want)
		}
		if shown := dsn.Redact(wrong); strings.Contains(shown, "secret") {
			t.Errorf("%s is shown as %s", wrong, shown)
		}
	}
}

// D-5: what a driver says is told without the password, in whatever form.
func TestScrub(t *testing.T) {
	for text, want := range map[string]string{
		"lookup to p?secret: no such host": "lookup xxxxx: no such host", "in to+p%3Fsecret": "in xxxxx", "in to%20p%3Fsecret": "in xxxxx", "nothing": "nothing",
	} {
		if got := dsn.Scrub(text, "to p?secret", "u"); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := dsn.Scrub("user=postgres", "postgres", "postgres"); got != "user=postgres" {
		t.Errorf("what is no secret became %q", got)
	}
	if got := dsn.Scrub("a b", "a"); got != "a b" {
		t.Errorf("a letter was taken for a secret: %q", got)
	}
}

func TestFile(t *testing.T) {
	for path, want := range map[string]string{"a@b.db": "sqlite:a@b.db", "/a:b/c@d": "sqlite:/a:b/c@d", "//u:12secret@h/d": "sqlite:…", "u:12secret@h": "sqlite:…"} {
		if got := dsn.File(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}

// FuzzPassword puts a password into every place of a URL or list that may hold one: it
// is either refused, or understood as a password; what is shown of it never has it.
func FuzzPassword(f *testing.F) {
	for _, around := range []string{"", "@", "/", "?", "#", ":", "%", "%zz", " ", "'", "\"", "\\", "&", "=", ";", ",", "[", "]", "@/", "/@", "?x=", "#@", "x@y/", "12/", "12?a=b&", "\n", "ü", "..", "//"} {
		f.Add(around, "")
		f.Add(around, around)
		f.Add("12"+around, "")
		f.Add("", around)
	}
	const canary = "kanari7"
	f.Fuzz(func(t *testing.T, before, after string) {
		password := before + canary + after
		for _, text := range []string{
			"postgres://u:" + password + "@127.0.0.1:1/d", "postgres://u:" + password + "@127.0.0.1:1/d?sslmode=disable", "postgres://u:p@127.0.0.1:1,u:" + password + "@127.0.0.1:2/d",
			"postgres://127.0.0.1/d?user=u&password=" + url.QueryEscape(password), "postgres://u:" + url.PathEscape(password) + "@127.0.0.1:1/d",
			"postgresql://u:" + password + "@[::1]:1/d", "mysql://u:" + password + "@h/d",
		} {
			if shown := dsn.Redact(text); strings.Contains(shown, canary) {
				t.Errorf("%q is shown as %q", text, shown)
			}
			if err := dsn.Check(text); err != nil {
				if strings.Contains(err.Error(), canary) {
					t.Errorf("%q is refused by %q", text, err)
				}
				continue
			}
			u, err := url.Parse(text)
			if err != nil {
				t.Errorf("%q is accepted and is none: %v", text, err)
				continue
			}
			if strings.Contains(u.Host+u.Path, canary) {
				t.Errorf("%q is accepted, and the password is taken for something else", text)
			}
		}
	})
}
