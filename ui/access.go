package ui

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
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

// Unauthenticated is what an Authorize function returns for a request that does not say who sent it, or
// not rightly: it is answered with 401 and the challenge, for which a browser asks its user.
type Unauthenticated struct {
	Challenge string // the header WWW-Authenticate: `Basic realm="pawl"`
}

// Error says that nobody is known.
func (*Unauthenticated) Error() string { return "not signed in" }

// errNotHere refuses what does not come from this machine.
var errNotHere = errors.New("the dashboard serves this machine alone, and nothing that comes by a proxy: set ui.Options.Authorize, or --basic-auth, to serve others")

// thisMachine lets everybody on this machine do everything. The name that was asked for has to be
// this machine's, too: a page from elsewhere may have a name that leads here. What a proxy on this
// machine sends on may come from anywhere.
func thisMachine(r *http.Request) (Access, error) {
	if forwarded(r) {
		return Access{}, errNotHere
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !loopback(host) {
		return Access{}, errNotHere
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
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
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && at.Unmap().IsLoopback()
}

// policy allows a page what it is made of and nothing else: no inline script or style, no other
// origin, no frame.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard answers only those who may come in, and sets what a browser has to hold to.
func (s *server) guard(next http.Handler) http.Handler {
	authorize := s.opts.Authorize
	if authorize == nil {
		authorize = thisMachine
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		access, err := authorize(r)
		if err == nil && access.Name == "" {
			err = errors.New("nobody")
		}
		if err != nil {
			status := http.StatusForbidden
			if who := (*Unauthenticated)(nil); errors.As(err, &who) {
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
