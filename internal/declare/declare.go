// Package declare keeps an older version of a program from taking back what a newer one declared: jobs,
// limits.
package declare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
)

// Options say which version declares.
type Options struct {
	// Version is the program's; "": its executable and what it declares are one. Versions are compared part by
	// part, numbers as numbers.
	Version string
	Latest  bool // what is declared is the newest, whatever was declared before
}

// named begins the versions that programs named.
const named = "v:"

// Check reports by which newer version what an owner declares is superseded, "" by none, and returns the
// calls that record a new version, for the transaction that changes what it declares. Calls for one
// owner must not overlap.
func Check(ctx context.Context, db engine.DB, owner, content string, opts Options) (superseded string, record []*engine.Call, err error) {
	known, err := engine.Query(ctx, db, op.DeclaredList{Owner: owner})
	if err != nil {
		return "", nil, err
	}
	mine := named + opts.Version
	if opts.Version == "" {
		mine = identity(content)
	}
	if len(known) > 0 && known[0].Version == mine {
		return "", nil, nil
	}
	if !opts.Latest {
		for _, v := range known {
			if newer(&v, mine) {
				return describe(&known[0]), nil, nil
			}
		}
	}
	return "", []*engine.Call{engine.Ask(op.DeclaredForget{Owner: owner, Version: &mine}), engine.Ask(op.DeclaredAdd{Owner: owner, Version: mine})}, nil
}

// newer reports whether a version that declared before a program's other ones is newer than this one:
// what is in the list and not its head was replaced.
func newer(v *op.Declared, mine string) bool {
	theirs, ok := strings.CutPrefix(v.Version, named)
	own, has := strings.CutPrefix(mine, named)
	switch {
	case ok && has:
		return compare(own, theirs) < 0
	case ok:
		return true
	}
	return !has && v.Version == mine
}

// describe names a version for people.
func describe(v *op.Declared) string {
	if name, ok := strings.CutPrefix(v.Version, named); ok {
		return "version " + name
	}
	return "a build that declared first at " + v.At.UTC().Format(time.RFC3339)
}

// compare compares versions part by part, numbers as numbers.
func compare(a, b string) int {
	for a != "" && b != "" {
		x, restA := part(a)
		y, restB := part(b)
		if isDigit(x[0]) && isDigit(y[0]) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return len(a) - len(b)
}

// part returns the digits that a version begins with, or what comes before the first.
func part(s string) (first, rest string) {
	i := 1
	for i < len(s) && isDigit(s[i]) == isDigit(s[0]) {
		i++
	}
	return s[:i], s[i:]
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// identity is the version of a program that names none: of its executable with what it declares.
func identity(content string) string {
	sum := sha256.Sum256([]byte(executable() + "\n" + content))
	return hex.EncodeToString(sum[:16])
}

// executable identifies the file that the process runs.
var executable = sync.OnceValue(func() string {
	for _, name := range []func() (string, error){func() (string, error) { return "/proc/self/exe", nil }, os.Executable} {
		path, err := name()
		if err != nil {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if f.Close(); err == nil {
			return hex.EncodeToString(h.Sum(nil))
		}
	}
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprint(info)
})
