package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Names says where pawl's tables live. The zero value takes the engine's
// defaults.
type Names struct {
	// Schema holds the tables; default "pawl" on PostgreSQL. SQLite has none.
	Schema string
	// Prefix is put before every table and routine, default "".
	Prefix string
}

// ErrName says that a schema name or prefix is not a plain identifier.
var ErrName = errors.New("invalid name")

// PostgreSQL cuts identifiers at 63 bytes; the longest name pawl adds to a
// prefix has 31, and a name that is cut could collide with another.
const (
	maxSchema = 63
	maxPrefix = 32
)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate refuses everything but letters, digits and underscores, so that a
// name can stand in any SQL text (D-101). The error names the field.
func (n Names) Validate() error {
	if err := checkName("schema", n.Schema, maxSchema); err != nil {
		return err
	}
	return checkName("prefix", n.Prefix, maxPrefix)
}

func checkName(field, name string, limit int) error {
	if name == "" {
		return nil
	}
	if !identifier.MatchString(name) {
		return fmt.Errorf("%w: %s %q: letters, digits and underscores only, not starting with a digit", ErrName, field, name)
	}
	if len(name) > limit {
		return fmt.Errorf("%w: %s %q: longer than %d bytes", ErrName, field, name, limit)
	}
	return nil
}

// reference is how the .sql files name a table or routine: as it is called at
// the default names on PostgreSQL, so that a file can be read, highlighted and
// even run as it stands.
var reference = regexp.MustCompile(`\bpawl\.([a-z_][a-z0-9_]*)\b`)

// Render replaces every pawl.name in a text by the configured, quoted name.
func (n Names) Render(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		return n.Quote(strings.TrimPrefix(ref, "pawl."))
	})
}

// Quote returns the quoted, qualified name of one of pawl's tables or routines.
func (n Names) Quote(name string) string {
	if n.Schema == "" {
		return `"` + n.Prefix + name + `"`
	}
	return `"` + n.Schema + `"."` + n.Prefix + name + `"`
}

// Key identifies these names within one database, for lock and channel names.
func (n Names) Key() string { return n.Schema + "." + n.Prefix }
