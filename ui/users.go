package ui

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Users are those who may come in by a name and a password. They are safe for concurrent use.
type Users struct {
	all     map[string]user
	known   sync.Map // until when names with passwords that were right are, hashed with key; so one of each
	key     [16]byte
	highest int           // cost of a hash
	hashing chan struct{} // a place for each password that is hashed at once
}

type user struct {
	hash []byte
	cost int
	Access
}

const (
	atOnce   = 2               // passwords are hashed at once: each takes a processor
	patience = 2 * time.Second // how long a request waits for its turn
	weak     = 10              // costs below are cheap to guess
)

// compare is bcrypt.CompareHashAndPassword, except in tests.
var compare = bcrypt.CompareHashAndPassword

// BasicAuth reads users from a file, whose Authorize is an Options.Authorize: lines "name:hash", the hash by bcrypt
// as "htpasswd -B -C 12" writes it, and behind that a role, if its owner may not do everything: ":viewer" only
// looks and sees nothing that programs wrote, ":reader" reads headers, correlation ids and errors as well, and no
// payloads. Empty lines and those that begin with # are skipped. Passwords travel as they are: put TLS before it.
func BasicAuth(path string) (*Users, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	u := &Users{all: map[string]user{}, hashing: make(chan struct{}, atOnce)}
	_, _ = rand.Read(u.key[:]) // it cannot fail
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if err := u.add(strings.TrimSpace(lines.Text())); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if len(u.all) == 0 && lines.Err() == nil {
		return nil, errors.New("it names nobody")
	}
	return u, lines.Err()
}

// add reads a line.
func (u *Users) add(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	name, rest, _ := strings.Cut(line, ":")
	hash, role, _ := strings.Cut(rest, ":")
	all := role == ""
	if name == "" || !all && role != "viewer" && role != "reader" {
		return errors.New("want NAME:HASH, NAME:HASH:viewer or NAME:HASH:reader")
	}
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil {
		return fmt.Errorf("the hash of %s is none by bcrypt: make it with htpasswd -B", name)
	}
	u.all[name] = user{[]byte(hash), cost, Access{Name: name, Operator: all, Details: role != "viewer", Payloads: all}}
	u.highest = max(u.highest, cost)
	return nil
}

// Weak returns the names, in order, of those whose hash is cheap to guess: htpasswd -B takes a cost of 5
// unless told otherwise.
func (u *Users) Weak() (names []string) {
	for name, one := range u.all {
		if one.cost < weak {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// remembered is how long a password that was right is not hashed again: that takes a twentieth of a
// second, and each page and each of its parts is asked for by itself.
const remembered = 5 * time.Minute

// Authorize returns what the sender of a request may do. A request without a name and a password costs
// nothing; for any other that is refused as much is hashed, whatever the name. One for which there is no
// turn within two seconds gets an error that is context.DeadlineExceeded.
func (u *Users) Authorize(r *http.Request) (Access, error) {
	unknown := &Unauthenticated{Challenge: `Basic realm="pawl", charset="UTF-8"`}
	name, password, asked := r.BasicAuth()
	if !asked {
		return Access{}, unknown
	}
	who, ok := u.all[name]
	if !ok {
		who = user{hash: noPassword(u.highest), cost: u.highest}
	}
	right, err := u.right(r.Context(), name, password, who)
	switch {
	case err != nil:
		return Access{}, err
	case !ok || !right:
		return Access{}, unknown
	}
	return who.Access, nil
}

// right reports whether a password is somebody's.
func (u *Users) right(ctx context.Context, name, password string, who user) (bool, error) {
	key := sha256.Sum256(append(append(u.key[:], name...), "\x00"+password...))
	if until, known := u.known.Load(key); known && time.Now().Before(until.(time.Time)) {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case u.hashing <- struct{}{}:
		defer func() { <-u.hashing }()
	case <-ctx.Done():
		return false, fmt.Errorf("too many passwords are checked: %w", ctx.Err())
	}
	if !u.matches(password, who) {
		return false, nil
	}
	u.known.Store(key, time.Now().Add(remembered))
	return true, nil
}

// matches compares a password with a hash. If it is another one, as much is hashed as for the highest
// cost: the time does not say who is known. Each cost is twice the one below.
func (u *Users) matches(password string, who user) bool {
	if compare(who.hash, []byte(password)) == nil {
		return true
	}
	for cost := who.cost; cost < u.highest; cost++ {
		_ = compare(noPassword(cost), []byte(password))
	}
	return false
}

// noPassword is a hash of a cost that no password is known to have.
func noPassword(cost int) []byte {
	return fmt.Appendf(nil, "$2a$%02d$%s", cost, strings.Repeat(".", 53))
}
