// Package receive takes webhooks of others into the inbox.
//
//	h, err := receive.New(p.Inbox, receive.Options{Source: "stripe", Topic: "stripe.event", Verify: receive.Stripe("whsec_…")})
//	mux.Handle("POST /hooks/stripe", h)
//	p.HandleInbox("stripe.event", pay)
//
// A request is verified, stored as a message of the inbox and then acknowledged, so that it is
// handled even if the process ends right after. One that comes again is stored once. The sender
// repeats what was not acknowledged.
package receive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
)

// HeaderEventType is the header of the stored message that has the type of the event.
const HeaderEventType = "webhook-event-type"

// Bounds of requests.
const (
	defaultMaxBody = 1 << 20
	maxHeader      = 2 << 10 // bytes of a header that is kept
)

// retryAfter is in how many seconds a sender is to repeat what could not be stored.
const retryAfter = "5"

// Inbox stores messages: an *inbox.Inbox.
type Inbox interface {
	Enqueue(ctx context.Context, m inbox.Message) (added bool, err error)
}

// Event is what a Verifier found in a request.
type Event struct {
	// ID is the sender's id of the event, the same when it is repeated: 1–255 characters. Without
	// one the request is refused.
	ID string
	// Type is what happened; "" if the sender does not say.
	Type string
}

// Verifier decides whether a request is the sender's. An error refuses it, and is logged as it
// is: it must hold no secret. Verifiers are called by many goroutines at once.
type Verifier interface {
	Verify(h http.Header, body []byte) (Event, error)
}

// VerifierFunc is a function that implements Verifier.
type VerifierFunc func(h http.Header, body []byte) (Event, error)

// Verify calls f.
func (f VerifierFunc) Verify(h http.Header, body []byte) (Event, error) { return f(h, body) }

// Options configure a handler. Source, Verify, and one of Topic and TopicOf are required.
type Options struct {
	// Source is the source of the messages in the inbox; see inbox.Key.
	Source string
	// Verify decides which requests are stored: StandardWebhooks, GitHub, Stripe or the program's
	// own.
	Verify Verifier
	// Topic is the topic of the messages.
	Topic string
	// TopicOf returns the topic of an event instead.
	TopicOf func(Event) string
	// MaxBody is the largest body in bytes, default 1 MiB. The inbox has a limit, too; see
	// pawl.Options.MaxPayload.
	MaxBody int64
	// Headers are names of headers that are stored besides content-type, traceparent, tracestate
	// and baggage, in lower case. They are not verified. A value of more than 2 KiB is left out.
	Headers []string
	// Logger logs what is stored at INFO and what is refused at WARN. nil means slog.Default()
	// for warnings alone. Bodies and headers are never logged.
	Logger *slog.Logger
}

// validate returns a pawl.InvalidError that names the first invalid field.
func (o *Options) validate() error {
	if err := engine.CheckText("Source", o.Source, 255, true); err != nil {
		return err
	}
	switch {
	case o.Verify == nil:
		return engine.Invalid("Verify", "missing")
	case o.Topic == "" && o.TopicOf == nil:
		return engine.Invalid("Topic", "neither it nor TopicOf is set")
	case o.Topic != "" && o.TopicOf != nil:
		return engine.Invalid("Topic", "both it and TopicOf are set")
	}
	if v, ok := o.Verify.(interface{ validate() error }); ok {
		if err := v.validate(); err != nil {
			return engine.InOptions("Verify", err)
		}
	}
	if err := engine.CheckText("Topic", o.Topic, 255, false); err != nil {
		return err
	}
	return engine.CheckOption("MaxBody", o.MaxBody, 1, 0)
}

// New returns a handler that stores webhooks in an inbox. It answers
//
//	204  stored, or stored before
//	400  no id, or nothing that the inbox takes
//	401  not verified; why is logged and not answered
//	405  no POST
//	413  larger than MaxBody
//	503  not stored, or not known whether: to be repeated
//
// An error says which option is invalid, a pawl.InvalidError, without any secret. The server
// should have a ReadTimeout: the handler waits for the body.
func New(in Inbox, opts Options) (http.Handler, error) {
	if err := opts.validate(); err != nil {
		return nil, fmt.Errorf("receive: options: %w", err)
	}
	if opts.MaxBody == 0 {
		opts.MaxBody = defaultMaxBody
	}
	return &handler{in: in, opts: opts, log: engine.Logger(opts.Logger)}, nil
}

type handler struct {
	in   Inbox
	opts Options
	log  *slog.Logger
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.opts.MaxBody))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		h.log.WarnContext(r.Context(), "refused a webhook that is too large", "source", h.opts.Source)
		refuse(w, http.StatusRequestEntityTooLarge)
		return
	} else if err != nil {
		refuse(w, http.StatusBadRequest)
		return
	}
	event, err := h.opts.Verify.Verify(r.Header, body)
	if err != nil {
		h.log.WarnContext(r.Context(), "refused a webhook that is not verified", "source", h.opts.Source, "from", r.RemoteAddr, "error", err)
		refuse(w, http.StatusUnauthorized)
		return
	}
	h.store(w, r, event, body)
}

// store puts an event that was verified into the inbox.
func (h *handler) store(w http.ResponseWriter, r *http.Request, event Event, body []byte) {
	m := h.message(r.Header, event, body)
	added, err := h.in.Enqueue(r.Context(), m) // which refuses an event without an id
	switch {
	case errors.Is(err, engine.ErrInvalid):
		h.log.WarnContext(r.Context(), "refused a webhook that the inbox does not take", "source", h.opts.Source, "error", err)
		refuse(w, http.StatusBadRequest)
	case err != nil:
		h.log.WarnContext(r.Context(), "could not store a webhook, its sender is to repeat it", "source", h.opts.Source, "source_message_id", event.ID, "error", err)
		w.Header().Set("Retry-After", retryAfter)
		refuse(w, http.StatusServiceUnavailable)
	default:
		if added {
			h.log.InfoContext(r.Context(), "received a webhook", "source", h.opts.Source, "source_message_id", event.ID, "topic", m.Topic)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// message is what is stored of an event.
func (h *handler) message(from http.Header, event Event, body []byte) inbox.Message {
	m := inbox.Message{Key: inbox.Key{Source: h.opts.Source, MessageID: event.ID}, Topic: h.opts.Topic, Payload: body, Headers: map[string]string{}}
	if h.opts.TopicOf != nil {
		m.Topic = h.opts.TopicOf(event)
	}
	for _, names := range [][]string{{"content-type", "traceparent", "tracestate", "baggage"}, h.opts.Headers} {
		for _, name := range names {
			keep(m.Headers, name, from.Get(name))
		}
	}
	keep(m.Headers, HeaderEventType, event.Type)
	maps.DeleteFunc(m.Headers, func(name, _ string) bool { return isSignature(name) })
	return m
}

// keep adds a header that a message can have.
func keep(to map[string]string, name, value string) {
	if value != "" && len(value) <= maxHeader && engine.CheckText(name, value, maxHeader, false) == nil {
		to[strings.ToLower(name)] = value
	}
}

// isSignature reports whether a header holds what proves that a request is the sender's.
func isSignature(name string) bool {
	return strings.Contains(name, "signature") || name == "authorization" || name == "cookie"
}

// refuse answers a status, and nothing else that a sender could learn from.
func refuse(w http.ResponseWriter, status int) { http.Error(w, http.StatusText(status), status) }
