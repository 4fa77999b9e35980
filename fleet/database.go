package fleet

import (
	"context"
	"net/url"
	"strings"

	"github.com/bravellian/pawl/engine"
)

// Database says where a store is. Two that are equal are the same store in the
// same configuration.
type Database struct {
	// Key names the store: 1–255 characters, unique in the fleet (D-90).
	Key string
	// URL is where it is: "postgres://…" or "sqlite:path". Its scheme chooses the engine.
	URL string
	// Schema and Prefix of pawl's tables; see engine.Names.
	Schema, Prefix string
}

// Discovery lists the databases of a fleet.
type Discovery interface {
	// Discover returns all databases there are. What fails or returns none changes
	// nothing: a fleet that ran a moment ago is not gone because a list cannot be
	// read. Order does not matter.
	Discover(ctx context.Context) ([]Database, error)
}

// DiscoveryFunc lets a function be a Discovery.
type DiscoveryFunc func(ctx context.Context) ([]Database, error)

// Discover calls f.
func (f DiscoveryFunc) Discover(ctx context.Context) ([]Database, error) { return f(ctx) }

// Static is a fixed list of databases.
func Static(dbs ...Database) Discovery {
	return DiscoveryFunc(func(context.Context) ([]Database, error) { return dbs, nil })
}

// validate refuses what cannot be a store. Errors name the key, never the URL,
// which may hold a password.
func (d *Database) validate(engines map[string]engine.Opener) error {
	if err := checkKey(d.Key); err != nil {
		return err
	}
	if _, known := engines[d.scheme()]; !known {
		return engine.Invalid("URL", "scheme %q of store %q: no such engine in the fleet's options", d.scheme(), d.Key)
	}
	return nil
}

func checkKey(key string) error { return engine.CheckText("store key", key, MaxKey, true) }

// scheme is "" for what is no URL, such as a list of settings: a part of that is
// not for people to read.
func (d *Database) scheme() string {
	scheme, _, ok := strings.Cut(d.URL, ":")
	switch {
	case !ok || strings.ContainsFunc(scheme, notInScheme):
		return ""
	case scheme == "postgresql":
		return "postgres"
	}
	return scheme
}

func notInScheme(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')
}

// isFile reports whether looking at the database costs no server anything.
func (d *Database) isFile() bool { return d.scheme() == "sqlite" }

// Where is the URL without its password, for people.
func (d *Database) Where() string {
	if d.isFile() {
		return d.URL
	}
	if d.scheme() == "" {
		return "…"
	}
	u, err := url.Parse(d.URL)
	if err != nil || u.Opaque != "" {
		return d.scheme() + "://…"
	}
	for name := range u.Query() {
		if strings.Contains(strings.ToLower(name), "password") {
			u.RawQuery = ""
		}
	}
	return u.Redacted()
}
