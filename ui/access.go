package ui

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Access is what somebody may do. The zero value is nobody's: an Authorize function that knows a
// request's sender returns one with a Name.
type Access struct {
	// Name is who it is, as the audit trail and the log name them.
	Name string
	// Operator may change things: redrive, cancel, pause. Others only read.
	Operator bool
	// Details may be read, which programs wrote beside payloads: headers, correlation ids, errors.
	Details bool
	// Payloads may be read, with metadata of joins and results of steps; details, too.
	Payloads bool
}

// UnauthenticatedError is what an Authorize function returns for a request that does not say who sent it, or
// not rightly: it is answered with 401 and the challenge, for which a browser asks its user.
type UnauthenticatedError struct {
	Challenge string // the header WWW-Authenticate: `Basic realm="pawl"`
}

// Error says that nobody is known.
func (*UnauthenticatedError) Error() string { return "not signed in" }

// errNotHere refuses what does not come from this machine.
var errNotHere = errors.New("the dashboard serves this machine alone, and nothing that comes by a proxy: set ui.Options.Authorize, or --basic-auth, to serve others")

// thisMachine lets everybody on this machine do everything. The name that was asked for has to be
// this machine's, too: a page from elsewhere may have a name that leads here. What a proxy on this
// machine sends on may come from anywhere.
func thisMachine(r *http.Request) (Access, error) {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if forwarded(r) || !loopback((&url.URL{Host: r.Host}).Hostname()) || err != nil || !from.Addr().Unmap().IsLoopback() {
		return Access{}, errNotHere
	}
	return Access{Name: "dashboard", Operator: true, Payloads: true}, nil
}

// forwarded reports whether a request came by a proxy: it has a header that proxies add, or a version
// of HTTP that nginx speaks unless told otherwise and no browser does.
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		name = strings.ToLower(name)
		if name == "via" || strings.Contains(name, "forwarded") || strings.HasSuffix(name, "ip") || strings.HasPrefix(name, "x-original-") || strings.HasPrefix(name, "x-envoy-") {
			return true
		}
	}
	return !r.ProtoAtLeast(1, 1)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	at, err := netip.ParseAddr(host)
	return err == nil && at.Unmap().IsLoopback()
}

// policy allows a page what it is made of and nothing else: no inline script or style, no other origin, no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard answers only those who may come in, and sets what a browser has to hold to.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		access, err := s.opts.Authorize(r)
		if err == nil && access.Name == "" {
			err = errors.New("nobody")
		}
		if err != nil {
			status := http.StatusForbidden
			if who := (*UnauthenticatedError)(nil); errors.As(err, &who) {
				h.Set("WWW-Authenticate", who.Challenge)
				status = http.StatusUnauthorized
			} else if errors.Is(err, context.DeadlineExceeded) {
				h.Set("Retry-After", "1")
				status = http.StatusServiceUnavailable
			}
			s.log.WarnContext(r.Context(), "the dashboard refused a request", "path", r.URL.Path, "from", r.RemoteAddr, "error", err)
			http.Error(w, fmt.Sprintf("%d %s", status, err), status)
			return
		}
		if err := s.cross.Check(r); err != nil {
			s.log.WarnContext(r.Context(), "the dashboard refused a request", "path", r.URL.Path, "from", r.RemoteAddr, "name", access.Name, "origin", r.Header.Get("Origin"), "host", r.Host, "error", err)
			http.Error(w, "403 forbidden: "+err.Error()+". If it is from a page of the dashboard, a proxy changes the address: have it keep the header Host (nginx: proxy_set_header Host $http_host), or name the address in the browser, up to the path, in ui.Options.TrustedOrigins or with pawl ui --origin", http.StatusForbidden)
			return
		}
		access.Operator = access.Operator && !s.opts.ReadOnly
		access.Details = access.Details || access.Payloads
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), accessKey{}, access)))
	})
}

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
	_, _ = rand.Read(u.key[:])   // it cannot fail
	lines := bufio.NewScanner(f) // a file may be anything, and of any size
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
	unknown := &UnauthenticatedError{Challenge: `Basic realm="pawl", charset="UTF-8"`}
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
