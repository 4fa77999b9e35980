package testpg

import (
	"net"
	"net/url"
	"testing"
)

func TestURLOfAPrivateServer(t *testing.T) {
	t.Setenv(Variable, "")
	first := URL(t)
	u, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatalf("nobody answers at %s: %v", first, err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if again := URL(t); again != first {
		t.Errorf("a second server: %s, then %s", first, again)
	}
}

func TestURLFromTheEnvironment(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://elsewhere":                 "postgres://elsewhere?sslmode=disable",
		"postgres://elsewhere?a=1":             "postgres://elsewhere?a=1&sslmode=disable",
		"postgres://elsewhere?sslmode=require": "postgres://elsewhere?sslmode=require",
	} {
		t.Setenv(Variable, url)
		if got := URL(t); got != want {
			t.Errorf("URL = %q, want %q", got, want)
		}
	}
}

// A server may be named without any parameter.
func TestWith(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://h/d":           "postgres://h/d?a=1&b=2",
		"postgres://h/d?sslmode=x": "postgres://h/d?sslmode=x&a=1&b=2",
	} {
		if got := With(url, "a=1", "b=2"); got != want {
			t.Errorf("With(%q) = %q, want %q", url, got, want)
		}
	}
}
