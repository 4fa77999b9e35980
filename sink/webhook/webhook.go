// Package webhook delivers messages of the outbox to HTTP endpoints.
//
//	sink, err := webhook.New(p, webhook.Options{Endpoint: &webhook.Endpoint{URL: "https://example.com/hook", Secrets: []string{"whsec_…"}}})
//	sink.Handle("order.created")
//
// Each message is a POST with the payload as its body, signed as Standard Webhooks says, or a
// CloudEvent. It is retried like every message, by Retry unless the handler has a policy of
// its own: an endpoint may get it more than once, and recognizes it by the header webhook-id.
//
// Many endpoints have a topic each, so that one that fails is retried, limited and paused by
// itself:
//
//	sink, err := webhook.New(p, webhook.Options{Lookup: webhook.Table(db, `SELECT url, secrets FROM hook WHERE id = $1`)})
//	sink.Handle("webhook.*")
//	_, err = p.Outbox.EnqueueBatchTx(ctx, tx, webhook.Messages(event, "webhook.", "acme", "best"))
//
// The topic of an endpoint that fails for days, or answers that it is gone, is paused: its
// messages wait until an operator resumes it. Connections to private addresses are refused,
// see Options.AllowPrivate.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/outbox"
)

// Headers of a message that say how it is sent. Their names may be in any case.
const (
	// HeaderEventType is the type of the event; without it, it is the topic. It is the type of a
	// CloudEvent; Standard Webhooks have no header for it.
	HeaderEventType = "webhook-event-type"
	// HeaderContentType is the Content-Type of the payload; without it, that is application/json
	// if the payload is JSON, else application/octet-stream.
	HeaderContentType = "content-type"
)

// Format is how a message becomes a request.
type Format string

// The formats.
const (
	// StandardWebhooks sends the payload as it is.
	StandardWebhooks Format = ""
	// CloudEvents sends a CloudEvent 1.0 in structured mode: JSON with the payload in it.
	CloudEvents Format = "cloudevents"
	// CloudEventsBinary sends a CloudEvent 1.0 in binary mode: the payload as it is, and the
	// rest as headers that begin with ce-.
	CloudEventsBinary Format = "cloudevents-binary"
)

// Endpoint is where messages go.
type Endpoint struct {
	// URL is an address with http or https. Names and passwords in it are refused: an
	// Authorization header belongs in Headers.
	URL string
	// Secrets sign every request, each with a signature of its own, in all formats:
	// whsec_ (24 to 64 bytes in base64) with HMAC-SHA256, whsk_ with Ed25519. With an old and a
	// new one receivers can change from one to the other. None: requests are not signed.
	Secrets []string
	// Headers are sent with every request. Those that the sink sends itself take precedence.
	Headers map[string]string
	// Format is how messages are sent.
	Format Format
}

// Lookup returns the endpoint of a message. id is what stands for the * of the topic that
// Handle was called with, "acme" of webhook.acme, or the whole topic if there is no *. An error
// fails the attempt, which is repeated unless it is outbox.Permanent; no endpoint does so, too. It
// is called for each attempt, by many goroutines at once.
type Lookup func(ctx context.Context, id string, m *outbox.Message) (*Endpoint, error)

// Options configure a sink. One of Endpoint and Lookup is required.
type Options struct {
	// Endpoint is where all messages go.
	Endpoint *Endpoint
	// Lookup returns where a message goes; see Table.
	Lookup Lookup
	// Timeout bounds a request from the first byte to the last of its answer, default 15 s.
	Timeout time.Duration
	// PauseAfter is how long deliveries fail without one that succeeds before the topic is
	// paused, default 5 days, at least 1 ms; negative: never. A status 410 pauses it at once.
	PauseAfter time.Duration
	// Source is the source of CloudEvents, a URI reference, default "pawl".
	Source string

	// AllowPrivate lets connections go to any address. Otherwise those that are not public are
	// refused after the name is resolved, whatever it resolves to: private, loopback, link-local,
	// shared (CGNAT), multicast, reserved and documentation addresses, of IPv6 all that is not
	// global unicast, and what translates to IPv4 (NAT64, 6to4, Teredo).
	AllowPrivate bool
	// Allow are addresses that are allowed in spite of that: a network of one's own.
	Allow []netip.Prefix
	// Transport replaces the client's transport: for a proxy, or a client certificate. It has no
	// guard then, and AllowPrivate and Allow are refused. Without it no proxy is used, also
	// none of the environment: through a proxy the guard would see the proxy's address alone.
	Transport http.RoundTripper

	// Redact changes the text of an answer, at most 1 KiB, before it becomes part of an error,
	// which is logged and stored. nil leaves it as it is, but for secrets and headers of the
	// endpoint. An endpoint that repeats what it was sent has that stored, unless Redact returns
	// "".
	Redact func(string) string
	// Logger logs when a topic is going to be paused at INFO, and warnings. nil means
	// slog.Default() for warnings alone.
	Logger *slog.Logger
}

// Defaults and bounds of Options.
const (
	defaultTimeout    = 15 * time.Second
	defaultPauseAfter = 5 * 24 * time.Hour
	defaultSource     = "pawl"
)

// Validate returns a pawl.InvalidError that names the first invalid field. New calls it.
func (o *Options) Validate() error {
	switch {
	case o.Endpoint == nil && o.Lookup == nil:
		return engine.Invalid("Endpoint", "neither it nor Lookup is set")
	case o.Endpoint != nil && o.Lookup != nil:
		return engine.Invalid("Endpoint", "both it and Lookup are set")
	case o.PauseAfter > 0 && o.PauseAfter < time.Millisecond:
		return engine.Invalid("PauseAfter", "less than %v", time.Millisecond)
	case o.Transport != nil && (o.AllowPrivate || len(o.Allow) > 0):
		return engine.Invalid("Transport", "its addresses are not checked, so none can be allowed")
	}
	if _, err := url.Parse(o.Source); err != nil || strings.ContainsFunc(o.Source, unprintable) {
		return engine.Invalid("Source", "no URI reference")
	}
	if slices.ContainsFunc(o.Allow, func(p netip.Prefix) bool { return !p.IsValid() }) {
		return engine.Invalid("Allow", "a prefix that is none")
	}
	if o.Endpoint != nil {
		if _, err := o.Endpoint.prepare(); err != nil {
			return engine.InOptions("Endpoint", err)
		}
	}
	return engine.CheckOption("Timeout", o.Timeout, time.Millisecond, 0)
}

// Retry returns the policy of webhooks: ten attempts in all over about three days, 5 s, 5 min,
// 30 min, 2, 5, 10, 14, 20 and 24 h apart, ± 10 %.
func Retry() *outbox.RetryPolicy {
	return &outbox.RetryPolicy{MaxAttempts: 10, Jitter: 0.1, Delay: delay}
}

// delay is the schedule that Standard Webhooks recommends; further attempts come daily.
func delay(failures int) time.Duration {
	delays := [...]time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	return delays[min(max(failures, 1), len(delays))-1]
}

// Sink delivers messages to endpoints. It is safe for concurrent use.
type Sink struct {
	on       pawl.Handlers
	in       func(context.Context) place
	opts     Options
	endpoint *prepared // Options.Endpoint; nil with a Lookup
	client   *http.Client
	circuits *circuits
	log      *slog.Logger
	now      func() time.Time
}

// place is the database that a message came from.
type place struct {
	store string // of a fleet
	*pawl.Pawl
}

// New returns a sink for messages of p. An error says which option is invalid, a
// pawl.InvalidError, and holds no part of an URL or a secret.
func New(p *pawl.Pawl, opts Options) (*Sink, error) {
	return newSink(p, func(context.Context) place { return place{"", p} }, opts)
}

// NewFleet is New for the messages of all stores of a fleet. Lookup gets the store by
// fleet.StoreOf.
func NewFleet(f *fleet.Fleet, opts Options) (*Sink, error) {
	return newSink(f, func(ctx context.Context) place {
		s := fleet.StoreOf(ctx)
		return place{s.Key, s.Pawl}
	}, opts)
}

func newSink(on pawl.Handlers, in func(context.Context) place, opts Options) (*Sink, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("webhook: options: %w", err)
	}
	opts.defaults()
	s := &Sink{on: on, in: in, opts: opts, log: engine.Logger(opts.Logger), now: time.Now}
	if opts.Endpoint != nil {
		s.endpoint, _ = opts.Endpoint.prepare() // Validate did
	}
	s.client = newClient(&opts, nil)
	s.circuits = &circuits{sink: s, all: map[circuitKey]*circuit{}}
	return s, nil
}

func (o *Options) defaults() {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.PauseAfter == 0 {
		o.PauseAfter = defaultPauseAfter
	}
	if o.Source == "" {
		o.Source = defaultSource
	}
}

// Handle registers the sink for a topic, or for all topics that begin with what is before a *
// at the end; see pawl.Pawl.Handle. Options without a Retry get that of this package.
// It also registers what pauses the topic, for the topic pauseTopic followed by this one.
func (s *Sink) Handle(topic string, opts ...outbox.HandlerOptions) {
	opts = slices.Clone(opts)
	if len(opts) == 0 {
		opts = make([]outbox.HandlerOptions, 1)
	}
	if opts[0].Retry == nil {
		opts[0].Retry = Retry()
	}
	prefix, isPattern := strings.CutSuffix(topic, "*")
	if !isPattern {
		prefix = ""
	}
	s.on.Handle(topic, func(ctx context.Context, m *outbox.Message) error {
		return s.deliver(ctx, strings.TrimPrefix(m.Topic, prefix), m)
	}, opts...)
	s.on.Handle(pauseTopic+topic, s.circuits.fire)
}

// deliver makes one attempt.
func (s *Sink) deliver(ctx context.Context, id string, m *outbox.Message) error {
	e, err := s.find(ctx, id, m)
	if err != nil {
		return err
	}
	err = s.post(ctx, e, m)
	switch {
	case err == nil:
		s.circuits.succeeded(ctx, m)
	case errors.Is(err, errGone):
		s.circuits.gone(ctx, m, err)
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		// The process stops, or lost the message: the endpoint is not to blame.
	default:
		s.circuits.failed(ctx, m, err)
	}
	return err
}
