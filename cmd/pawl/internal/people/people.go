// Package people asks those who come to the dashboard for a name and a password.
package people

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
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

	nobody []byte // the hash of a password that nobody has
}

type person struct {
	hash   []byte
	viewer bool
}

// Read reads people from a file: lines "name:hash", the hash by bcrypt as htpasswd -B writes it, and
// behind that ":viewer" for who may only look. Empty lines and those that begin with # are skipped.
func Read(path string) (*People, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &People{all: map[string]person{}, known: map[[sha256.Size]byte]time.Time{}}
	_, _ = rand.Read(p.key[:]) // it cannot fail
	if p.nobody, err = bcrypt.GenerateFromPassword(p.key[:], bcrypt.DefaultCost); err != nil {
		return nil, err
	}
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
	if _, err := bcrypt.Cost([]byte(hash)); err != nil {
		return fmt.Errorf("the hash of %s is none by bcrypt: make it with htpasswd -B", name)
	}
	p.all[name] = person{[]byte(hash), role == "viewer"}
	return nil
}

// remembered is how long a password that was right is not hashed again: that takes a twentieth of a
// second, and each page and each of its parts is asked for by itself.
const remembered = 5 * time.Minute

// Authorize returns what the sender of a request may do.
func (p *People) Authorize(r *http.Request) (ui.Access, error) {
	name, password, _ := r.BasicAuth()
	who, ok := p.all[name]
	if !ok {
		who.hash = p.nobody // it takes as long to find out that somebody is not known
	}
	if right := p.right(name, password, who.hash); !ok || !right {
		return ui.Access{}, &ui.Unauthenticated{Challenge: `Basic realm="pawl", charset="UTF-8"`}
	}
	return ui.Access{Name: name, Operator: !who.viewer, Payloads: !who.viewer}, nil
}

func (p *People) right(name, password string, hash []byte) bool {
	key := sha256.Sum256(append(append(p.key[:], name...), "\x00"+password...))
	now := time.Now()
	p.mu.Lock()
	until, known := p.known[key]
	p.mu.Unlock()
	if known && now.Before(until) {
		return true
	}
	if bcrypt.CompareHashAndPassword(hash, []byte(password)) != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for old, until := range p.known {
		if now.After(until) {
			delete(p.known, old)
		}
	}
	p.known[key] = now.Add(remembered)
	return true
}
