// Package people asks those who come to the dashboard for a name and a password.
package people

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

	"github.com/bravellian/pawl/ui"
)

// People are those who may come in, by name. They are safe for concurrent use.
type People struct {
	all map[string]person

	mu    sync.Mutex
	known map[[sha256.Size]byte]time.Time // names with passwords that were right lately, hashed with key
	key   [16]byte

	highest int           // cost of a hash
	hashing chan struct{} // a place for each password that is hashed at once
}

type person struct {
	hash   []byte
	cost   int
	viewer bool
}

const (
	atOnce   = 2               // passwords are hashed at once: each takes a processor
	patience = 2 * time.Second // how long a request waits for its turn
	weak     = 10              // costs below are cheap to guess
)

// compare is bcrypt.CompareHashAndPassword, except in tests.
var compare = bcrypt.CompareHashAndPassword

// Read reads people from a file: lines "name:hash", the hash by bcrypt as htpasswd -B writes it, and
// behind that ":viewer" for who may only look. Empty lines and those that begin with # are skipped.
func Read(path string) (*People, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &People{all: map[string]person{}, known: map[[sha256.Size]byte]time.Time{}, hashing: make(chan struct{}, atOnce)}
	_, _ = rand.Read(p.key[:]) // it cannot fail
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if err := p.add(strings.TrimSpace(lines.Text())); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if len(p.all) == 0 && lines.Err() == nil {
		return nil, errors.New("it names nobody")
	}
	return p, lines.Err()
}

// add reads a line.
func (p *People) add(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	name, rest, _ := strings.Cut(line, ":")
	hash, role, _ := strings.Cut(rest, ":")
	if name == "" || role != "" && role != "viewer" && role != "operator" {
		return errors.New("want NAME:HASH, or NAME:HASH:viewer")
	}
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil {
		return fmt.Errorf("the hash of %s is none by bcrypt: make it with htpasswd -B", name)
	}
	p.all[name] = person{[]byte(hash), cost, role == "viewer"}
	p.highest = max(p.highest, cost)
	return nil
}

// Weak returns the names, in order, of those whose hash is cheap to guess: htpasswd -B takes a cost of 5
// unless told otherwise.
func (p *People) Weak() (names []string) {
	for name, one := range p.all {
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
func (p *People) Authorize(r *http.Request) (ui.Access, error) {
	unknown := &ui.Unauthenticated{Challenge: `Basic realm="pawl", charset="UTF-8"`}
	name, password, asked := r.BasicAuth()
	if !asked {
		return ui.Access{}, unknown
	}
	who, ok := p.all[name]
	right, err := p.right(r.Context(), name, password, who)
	switch {
	case err != nil:
		return ui.Access{}, err
	case !ok || !right:
		return ui.Access{}, unknown
	}
	return ui.Access{Name: name, Operator: !who.viewer, Payloads: !who.viewer}, nil
}

// right reports whether a password is somebody's; nobody's hash is empty.
func (p *People) right(ctx context.Context, name, password string, who person) (bool, error) {
	key := sha256.Sum256(append(append(p.key[:], name...), "\x00"+password...))
	if p.remembers(key) {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case p.hashing <- struct{}{}:
		defer func() { <-p.hashing }()
	case <-ctx.Done():
		return false, fmt.Errorf("too many passwords are checked: %w", ctx.Err())
	}
	if !p.matches(password, who) {
		return false, nil
	}
	p.remember(key)
	return true, nil
}

// matches compares a password with a hash. If it is another one, as much is hashed as for the highest
// cost: the time does not say who is known. Each cost is twice the one below.
func (p *People) matches(password string, who person) bool {
	if who.hash == nil {
		_ = compare(noPassword(p.highest), []byte(password))
		return false
	}
	if compare(who.hash, []byte(password)) == nil {
		return true
	}
	for cost := who.cost; cost < p.highest; cost++ {
		_ = compare(noPassword(cost), []byte(password))
	}
	return false
}

// noPassword is a hash of a cost that no password is known to have.
func noPassword(cost int) []byte {
	return fmt.Appendf(nil, "$2a$%02d$%s", cost, strings.Repeat(".", 53))
}

// remembers reports whether a name and password were right lately.
func (p *People) remembers(key [sha256.Size]byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, known := p.known[key]
	return known && time.Now().Before(until)
}

func (p *People) remember(key [sha256.Size]byte) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for old, until := range p.known {
		if now.After(until) {
			delete(p.known, old)
		}
	}
	p.known[key] = now.Add(remembered)
}
