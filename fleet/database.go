package fleet

import (
	"context"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
	"github.com/bravellian/pawl/internal/limits"
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

	refused string // why the discovery found it and it is no store all the same
}

// Refused is why a discovery lists a database that is no store all the same, as
// Directory does with links; nil if it is one.
func (d *Database) Refused() error {
	if d.refused == "" {
		return nil
	}
	return engine.Invalid("store", "%q: %s", d.Key, d.refused)
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

// Static is a fixed list of databases. A key that is in it twice is an error of New.
func Static(dbs ...Database) Discovery { return static(dbs) }

type static []Database

// Discover returns the list.
func (s static) Discover(context.Context) ([]Database, error) { return s, nil }

// validate refuses a key that is there twice.
func (s static) validate() error {
	seen := map[string]bool{}
	for i := range s {
		if seen[s[i].Key] {
			return engine.Invalid("store key", "%q is in the list twice", s[i].Key)
		}
		seen[s[i].Key] = true
	}
	return nil
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

func checkKey(key string) error { return engine.CheckText("store key", key, limits.StoreKey, true) }

// scheme chooses the engine.
func (d *Database) scheme() string {
	scheme := dsn.Scheme(d.URL)
	if scheme == "postgresql" {
		return "postgres"
	}
	return scheme
}

// isFile reports whether looking at the database costs no server anything.
func (d *Database) isFile() bool { return d.scheme() == "sqlite" }

// Where is the URL without its password, for people.
func (d *Database) Where() string {
	if d.isFile() {
		return dsn.File(strings.TrimPrefix(d.URL, "sqlite:"))
	}
	return dsn.Redact(d.URL)
}
