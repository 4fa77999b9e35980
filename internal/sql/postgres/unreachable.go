package postgres

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/bravellian/pawl/internal/driverr"
	"github.com/bravellian/pawl/internal/engine"
)

// notReached returns why no connection was made, in one line, and what helps if the server is unreachable. pgx
// tries every address of every host with TLS and then without, unless sslmode says one of them, and its text has
// a line for each.
func notReached(err error, class error) error {
	var connect *pgconn.ConnectError
	if !errors.As(err, &connect) || connect.Unwrap() == nil {
		return err
	}
	why := strings.Join(attempts(connect.Unwrap().Error()), "; ")
	if help := remedy(why, err); help != "" && errors.Is(class, engine.ErrUnreachable) {
		why += "; " + help
	}
	return &rewordedError{why, err}
}

func remedy(why string, err error) string {
	switch code := driverr.SQLState(err); {
	case code == "3D000":
		return "create the database, or check its name"
	case strings.HasPrefix(code, "28"):
		return "check the user, and its password and rights"
	case code != "", noPrimary(err):
		return ""
	case isTLS(why):
		return "check sslmode and sslrootcert"
	}
	return cmp.Or(driverr.Remedy(err), "check that a server of this kind listens there")
}

// The beginnings of a line about an attempt: "ADDRESS (HOST): ", and before that, where there was none, that the
// host was not found. The error of a dial says the address itself.
var (
	attemptAt   = regexp.MustCompile(`^(\S.*?) \([^)]*\): `)
	attemptDial = regexp.MustCompile(`^(hostname resolving error: |\S.*? \([^)]*\): dial error: )`)
)

// attempts returns pgx's attempts, each once. That there is no TLS is not why, if another way was tried, too.
func attempts(text string) []string {
	lines := distinct(strings.Split(text, "\n"))
	if plain := slices.DeleteFunc(slices.Clone(lines), isTLS); len(plain) > 0 {
		lines = plain
	}
	for i, line := range lines {
		lines[i] = attemptAt.ReplaceAllString(attemptDial.ReplaceAllString(line, ""), "$1: ")
	}
	return distinct(lines)
}

func isTLS(text string) bool { return strings.Contains(text, "tls error: ") }

// distinct returns the lines that are not blank, each once.
func distinct(lines []string) (all []string) {
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}
