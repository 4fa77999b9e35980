// Package dsn checks and redacts the strings that address databases, which may contain a
// password (D-5).
package dsn

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Scheme returns what is before the colon of a URL, and "" for what is no URL, such as a list of
// settings: a part of that must not be shown.
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

// The errors of Check. Each of these mistakes would make the driver take a part of the password
// for a host, a database or a setting, which drivers and servers often quote.
var (
	// ErrAt: there are several @ before the end of the host.
	ErrAt = errors.New("more than one @ before the end of the host: in a user's name or password, @ has to be written as %40")
	// ErrTruncated: there is an @ after the host.
	ErrTruncated = errors.New("there is an @ behind the host: in a password, characters such as @ / ? # have to be percent-encoded")
	// ErrHost: a setting of the host has an @.
	ErrHost = errors.New("the host has an @: user and password are settings of their own")
	// ErrTwice: a list has a setting twice.
	ErrTwice = errors.New("a setting is given twice: in a password, blanks and quotes have to be escaped by a backslash")
	// ErrForm: it cannot be parsed as a URL.
	ErrForm = errors.New("it cannot be read as a URL: in a password, all but letters and digits has to be percent-encoded")
)

// Check returns an error for a server's URL or list of settings that a driver would parse in
// another way than was meant. Its errors contain nothing of the text.
func Check(text string) error {
	scheme := Scheme(text)
	if scheme == "" || !strings.HasPrefix(text, scheme+"://") {
		switch address, err := ADO(text); {
		case err != nil:
			return err
		case address != text:
			return fmt.Errorf("%w of SQL Server, not of this engine", ErrADO)
		}
		return checkList(text)
	}
	authority, behind := split(text)
	if strings.Count(authority, "@") > 1 {
		return ErrAt
	}
	if looksTruncated(behind) {
		return ErrTruncated
	}
	single, _ := withoutMoreHosts(text)
	u, err := url.Parse(single)
	if err != nil {
		return ErrForm
	}
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		return ErrForm
	}
	for _, host := range u.Query()["host"] {
		if strings.Contains(strings.TrimPrefix(host, "@"), "@") {
			return ErrHost
		}
	}
	return nil
}

// split returns what is between the scheme and the path of a URL, and what follows.
func split(text string) (authority, behind string) {
	_, rest, _ := strings.Cut(text, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[:i], rest[i:]
	}
	return rest, ""
}

// Hosts returns the hosts of a URL with their ports, as they are written.
func Hosts(text string) string {
	authority, _ := split(text)
	return authority[strings.LastIndex(authority, "@")+1:]
}

// withoutMoreHosts returns a URL with only the first of its hosts, and all of them if there are
// several: several with a port each, which drivers accept, are invalid for net/url.
func withoutMoreHosts(text string) (single, all string) {
	scheme, _, ok := strings.Cut(text, "://")
	authority, behind := split(text)
	hosts := Hosts(text)
	user := strings.TrimSuffix(authority, hosts)
	first, _, several := strings.Cut(hosts, ",")
	if !ok || !several {
		return text, ""
	}
	return scheme + "://" + user + first + behind, hosts
}

// notInHosts reports characters that no list of hosts with their ports has.
func notInHosts(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:,[]", r))
}

// looksTruncated reports whether the text after the host looks like the end of a password.
func looksTruncated(behind string) bool {
	path, fragment, _ := strings.Cut(behind, "#")
	path, query, _ := strings.Cut(path, "?")
	if strings.Contains(path+fragment, "@") {
		return true
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if strings.Contains(name, "@") || strings.Contains(value, "@") && !mayHaveAt(name) {
			return true
		}
	}
	return false
}

// mayHaveAt reports whether a parameter's value may contain an @.
func mayHaveAt(name string) bool {
	switch strings.ToLower(name) {
	case "user", "user id", "password", "passfile", "host", "dbname", "database", "app name", "application_name", "fallback_application_name", "options", "service", "servicefile",
		"sslcert", "sslkey", "sslrootcert", "sslpassword", "krbsrvname", "search_path":
		return true
	}
	return false
}

// checkList checks a list such as "host=h user=u": a password with a blank or a quote that is not
// escaped ends there, and its rest is taken for other settings.
func checkList(text string) error {
	seen := map[string]bool{}
	for text = strings.TrimLeft(text, blanks); text != ""; text = strings.TrimLeft(text, blanks) {
		name, rest, ok := strings.Cut(text, "=")
		if !ok {
			return nil // it cannot be parsed: the driver returns the error
		}
		name = strings.ToLower(strings.TrimSpace(name))
		var value string
		value, text = setting(strings.TrimLeft(rest, blanks))
		switch {
		case seen[name]:
			return ErrTwice
		case (name == "host" || name == "hostaddr") && strings.Contains(strings.TrimPrefix(value, "@"), "@"):
			return ErrHost
		}
		seen[name] = true
	}
	return nil
}

const blanks = " \t\r\n\v\f"

// setting returns the first value of a list, in quotes or up to a blank, and what follows.
func setting(text string) (value, rest string) {
	end := blanks
	text, quoted := strings.CutPrefix(text, "'")
	if quoted {
		end = "'"
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.IndexByte(end, text[i]) >= 0:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// Redact returns a server's URL without its passwords, which may also be among the parameters.
// What cannot be parsed for sure is left out.
func Redact(text string) string {
	scheme := Scheme(text)
	if scheme == "" {
		return "…"
	}
	single, hosts := withoutMoreHosts(text)
	u, err := url.Parse(single)
	refused := Check(text)
	if err != nil || u.Opaque != "" || refused != nil && !errors.Is(refused, ErrForm) {
		return scheme + "://…"
	}
	if hosts != "" {
		if strings.ContainsFunc(hosts, notInHosts) {
			return scheme + "://…"
		}
		u.Host = hosts
	}
	u.Fragment = ""
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil { // Query leaves out what it cannot parse
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

// File returns "sqlite:" and a path as it may be shown, without what looks like a server's user
// and password.
func File(path string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	if user, _, ok := strings.Cut(first, "@"); ok && strings.Contains(user, ":") {
		return "sqlite:…"
	}
	return "sqlite:" + path
}

// shortest is the length of the shortest password to be replaced: a shorter one occurs in other
// words.
const shortest = 3

// Scrub removes a password from a text of a driver's or server's. open are texts that are not
// secret: a password that is equal to one of them is not removed.
func Scrub(text, password string, open ...string) string {
	if len(password) < shortest || slices.Contains(open, password) {
		return text
	}
	for _, form := range []string{password, url.QueryEscape(password), url.PathEscape(password)} {
		text = strings.ReplaceAll(text, form, "xxxxx")
	}
	return text
}

// WithPassword returns a URL that Redact wrote with the user and password of another, where it
// had some. It is the address of a database that moved to another server.
func WithPassword(redacted, other string) string {
	to, err := url.Parse(redacted)
	if err != nil || to.User == nil {
		return redacted
	}
	from, err := url.Parse(other)
	if _, has := to.User.Password(); !has || err != nil || from.User == nil {
		return redacted
	}
	to.User = from.User
	return to.String()
}
