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
	t.Setenv(Variable, "postgres://elsewhere")
	if got := URL(t); got != "postgres://elsewhere" {
		t.Errorf("URL = %q", got)
	}
}
