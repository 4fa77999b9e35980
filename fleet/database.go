package fleet

import (
	"context"
	"strings"

	"github.com/bravellian/pawl/internal/access"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/enginekit/dsn"
	"github.com/bravellian/pawl/internal/limits"
)

// Database is the address of a store. Two that are equal are the same store in the same
// configuration.
type Database struct {
	// Key names the store: 1–255 characters, unique in the fleet.
	Key string
	// URL is the address: "postgres://…", "sqlserver://…" or "sqlite:path". Its scheme
	// selects the engine.
	URL string
	// Schema and Prefix of pawl's tables; see engine.Names.
	Schema, Prefix string

	refused string // why a database that was discovered is no store
}

// Refused returns why a database that was discovered is no store, as Directory reports for
// links; nil if it is one. Programs cannot name its parameter.
func (d *Database) Refused(access.Key) error {
	if d.refused == "" {
		return nil
	}
	return engine.Invalid("store", "%q: %s", d.Key, d.refused)
}

// Discovery lists the databases of a fleet.
type Discovery interface {
	// Discover returns all databases there are. An error or an empty list changes nothing: a
	// list that cannot be read does not end a running fleet. The order does not matter.
	Discover(ctx context.Context) ([]Database, error)
}

// DiscoveryFunc is a function that implements Discovery.
type DiscoveryFunc func(ctx context.Context) ([]Database, error)

// Discover calls f.
func (f DiscoveryFunc) Discover(ctx context.Context) ([]Database, error) { return f(ctx) }

// Static returns a fixed list of databases. A duplicate key is an error of New.
func Static(dbs ...Database) Discovery { return static(dbs) }

type static []Database

// Discover returns the list.
func (s static) Discover(context.Context) ([]Database, error) { return s, nil }

// validate returns an error for a duplicate key.
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

// validate returns an error for an invalid database. Errors name the key, never the URL,
// which may contain a password.
func (d *Database) validate(engines map[string]Opener) error {
	if err := checkKey(d.Key); err != nil {
		return err
	}
	if _, known := engines[d.scheme()]; !known {
		return engine.Invalid("URL", "scheme %q of store %q: no such engine in the fleet's options", d.scheme(), d.Key)
	}
	return nil
}

func checkKey(key string) error { return engine.CheckText("store key", key, limits.StoreKey, true) }

// scheme returns the URL's scheme, which selects the engine.
func (d *Database) scheme() string {
	scheme := dsn.Scheme(d.URL)
	if scheme == "postgresql" {
		return "postgres"
	}
	return scheme
}

// isFile reports whether polling the database puts no load on a server.
func (d *Database) isFile() bool { return d.scheme() == "sqlite" }

// Where returns the URL without its password, for people; programs cannot call it.
func (d *Database) Where(access.Key) string {
	if d.isFile() {
		return dsn.File(strings.TrimPrefix(d.URL, "sqlite:"))
	}
	return dsn.Redact(d.URL)
}
