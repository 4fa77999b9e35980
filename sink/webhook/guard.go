package webhook

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// ErrRefusedAddress is part of the error of an attempt whose endpoint resolves to an address
// that is not public; see Options.AllowPrivate. The attempt is repeated: names can change.
var ErrRefusedAddress = errors.New("the address is not public")

// Bounds of the transport.
const (
	dialTimeout      = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 90 * time.Second
	connsPerHost     = 64
	idlePerHost      = 16
	headerBytes      = 64 << 10
)

// newClient returns the client of a sink: it follows no redirect. A resolver replaces the
// system's, nil does not.
func newClient(o *Options, resolver *net.Resolver) *http.Client {
	transport := o.Transport
	if transport == nil {
		transport = newTransport(o, resolver)
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func newTransport(o *Options, resolver *net.Resolver) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, Resolver: resolver}
	if !o.AllowPrivate {
		dialer.Control = guard(o.Allow)
	}
	return &http.Transport{
		Proxy:       nil, // its address would be the one that is checked
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: handshakeTimeout, IdleConnTimeout: idleTimeout, MaxConnsPerHost: connsPerHost, MaxIdleConnsPerHost: idlePerHost,
		MaxResponseHeaderBytes: headerBytes, DisableCompression: true, // a small answer cannot become a large one
	}
}

// guard returns what a dialer calls when the address of a connection is known, after the name
// was resolved: a name that resolves to something else than before changes nothing.
func guard(allow []netip.Prefix) func(network, address string, _ syscall.RawConn) error {
	var v4, v6 []netip.Prefix
	for _, prefix := range allow {
		if prefix.Addr().Is4() {
			v4 = append(v4, prefix)
		} else {
			v6 = append(v6, prefix)
		}
	}
	guardian := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return func(network, address string, c syscall.RawConn) error {
		if err := guardian.Safe(network, address, c); err != nil {
			return fmt.Errorf("%w: %s", ErrRefusedAddress, address)
		}
		return nil
	}
}
