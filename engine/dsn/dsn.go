// Package dsn says what may be shown of the string that names a database, which
// may hold a password (D-5).
package dsn

import (
	"net/url"
	"strings"
)

// Scheme is what stands before the colon of a URL, and "" for what is no URL, such
// as a list of settings: a part of that is not for people to read.
func Scheme(text string) string {
	scheme, _, ok := strings.Cut(text, ":")
	if !ok || strings.ContainsFunc(scheme, notInScheme) {
		return ""
	}
	return scheme
}

func notInScheme(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')
}

// Redact is a server's URL without its passwords, which may also stand among the
// parameters. What cannot be read for sure is not shown.
func Redact(text string) string {
	scheme := Scheme(text)
	if scheme == "" {
		return "…"
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || Torn(text) {
		return scheme + "://…"
	}
	u.Fragment = ""
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil { // it leaves out what it cannot read
		u.RawQuery = ""
	}
	for name := range q {
		if strings.Contains(strings.ToLower(name), "password") {
			q.Set(name, "xxxxx")
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}

// Torn reports whether a URL looks as if its password had a slash, question mark
// or number sign that was not percent-encoded: then it ends there for all who
// read it, and its rest is taken for the name of a database or a parameter, which
// servers and drivers like to quote.
func Torn(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Host == "" {
		return false
	}
	if strings.Contains(u.EscapedPath()+u.EscapedFragment(), "@") {
		return true
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if name, _, _ := strings.Cut(pair, "="); strings.Contains(name, "@") {
			return true
		}
	}
	return false
}
