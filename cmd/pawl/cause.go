package main

import (
	"errors"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/engine"
)

// cause is the driver's own words in one line, without the class that explain
// puts better.
func cause(err error) string {
	var op *engine.Error
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) && connect.Unwrap() != nil {
		return strings.Join(attempts(connect.Unwrap().Error()), "; ")
	}
	text := err.Error()
	for _, class := range []error{engine.ErrUnreachable, engine.ErrReadOnly} {
		text = strings.ReplaceAll(text, class.Error(), "")
	}
	return strings.Join(distinct(text), " ")
}

// The beginnings of a line about an attempt to connect: "ADDRESS (HOST): ", and before that, where
// there was none, that the host was not found. The error of a dial says the address itself.
var (
	attemptAt   = regexp.MustCompile(`^(\S.*?) \([^)]*\): `)
	attemptDial = regexp.MustCompile(`^(hostname resolving error: |\S.*? \([^)]*\): dial error: )`)
)

// attempts are pgx's attempts to connect, each said once. It tries every address with TLS and then
// without unless sslmode says one of them: then that there is no TLS is not why.
func attempts(text string) []string {
	said := distinct(text)
	if plain := slices.DeleteFunc(slices.Clone(said), isTLS); len(plain) > 0 {
		said = plain
	}
	for i, line := range said {
		line = attemptDial.ReplaceAllString(line, "")
		said[i] = attemptAt.ReplaceAllString(line, "$1: ")
	}
	return distinct(strings.Join(said, "\n"))
}

func isTLS(text string) bool { return strings.Contains(text, "tls error: ") }

// distinct returns the lines of a text that are not blank, each once.
func distinct(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = oneLine(line); line != "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// The codes of SQLite for a file that is none of its.
const (
	sqliteCannotOpen = 14
	sqliteNotADB     = 26
)

// remedy says what helps against a database that cannot be reached or opened, to stand behind the
// cause; nothing where the cause says so itself.
func (e *databaseError) remedy(cause string) string {
	err := e.err
	var postgres *pgconn.PgError
	var lite interface{ Code() int }
	var host *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &postgres) && postgres.Code == "3D000":
		return "; create the database, or check its name"
	case errors.As(err, &postgres) && strings.HasPrefix(postgres.Code, "28"):
		return "; check the user, and its password and rights"
	case errors.As(err, &lite) && lite.Code()&0xff == sqliteNotADB:
		return "; name a SQLite file, or a path without a file"
	case errors.As(err, &lite) && lite.Code()&0xff == sqliteCannotOpen:
		return "; check the rights on the file and its directory"
	case errors.As(err, &host):
		return "; check the name of the host"
	case isTLS(cause):
		return "; check sslmode and sslrootcert"
	case errors.As(err, &dial) && dial.Op == "dial":
		return "; check that the server runs, and its host and port"
	case postgres == nil && !e.isFile() && errors.Is(err, engine.ErrUnreachable):
		return "; check that a server of this kind listens there"
	}
	return ""
}
