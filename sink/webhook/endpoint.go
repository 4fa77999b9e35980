package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/webhooksig"
	"github.com/bravellian/pawl/outbox"
)

// prepared is an endpoint that was checked.
type prepared struct {
	Endpoint
	url  *url.URL
	keys []webhooksig.Key
}

// prepare checks an endpoint. Errors hold no part of the URL nor of a secret.
func (e *Endpoint) prepare() (*prepared, error) {
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, engine.Invalid("URL", "no URL with a host")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, engine.Invalid("URL", "neither http nor https")
	case u.User != nil:
		return nil, engine.Invalid("URL", "holds a name or a password")
	}
	p := &prepared{Endpoint: *e, url: u}
	for i, secret := range e.Secrets {
		key, err := webhooksig.ParseSigning(secret)
		if err != nil {
			return nil, engine.Invalid("Secrets", "number %d: %v", i+1, err)
		}
		p.keys = append(p.keys, key)
	}
	switch e.Format {
	case StandardWebhooks, CloudEvents, CloudEventsBinary:
	default:
		return nil, engine.Invalid("Format", "none of %q, %q and %q", StandardWebhooks, CloudEvents, CloudEventsBinary)
	}
	for name, value := range e.Headers {
		if !isToken(name) || strings.ContainsFunc(value, unprintable) {
			return nil, engine.Invalid("Headers", "a name or value that HTTP does not allow")
		}
	}
	return p, nil
}

// find returns the endpoint of a message.
func (s *Sink) find(ctx context.Context, id string, m *outbox.Message) (*prepared, error) {
	if s.endpoint != nil {
		return s.endpoint, nil
	}
	e, err := s.opts.Lookup(ctx, id, m)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("look up endpoint %q: %w", id, err)
	case err != nil || e == nil:
		return nil, fmt.Errorf("there is no endpoint %q", id)
	}
	p, err := e.prepare()
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", id, err)
	}
	return p, nil
}

// Querier reads a row: a *sql.DB, *sql.Conn or *sql.Tx, and what wraps them.
type Querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Bounds of what Table remembers.
const (
	tableFor  = 5 * time.Second
	tableRows = 1000
)

// Table returns a Lookup that reads the URL and the secrets of an endpoint from the program's
// own table: two columns, of which the second has the secrets with blanks between and may be
// null. The argument is the id, see Lookup. A row is read again after 5 s, so a change is obeyed
// by then, and no more than 1,000 rows are remembered. A row that is not there fails the
// attempt.
func Table(db Querier, query string) Lookup {
	t := &table{db: db, query: query, rows: map[string]row{}, now: time.Now}
	return t.lookup
}

type table struct {
	db    Querier
	query string
	now   func() time.Time

	mu   sync.Mutex
	rows map[string]row
}

type row struct {
	endpoint *Endpoint
	until    time.Time
}

func (t *table) lookup(ctx context.Context, id string, _ *outbox.Message) (*Endpoint, error) {
	if e := t.known(id); e != nil {
		return e, nil
	}
	var address string
	var secrets sql.NullString
	if err := t.db.QueryRowContext(ctx, t.query, id).Scan(&address, &secrets); err != nil {
		return nil, err
	}
	e := &Endpoint{URL: address, Secrets: strings.Fields(secrets.String)}
	t.keep(id, e)
	return e, nil
}

func (t *table) known(id string) *Endpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.rows[id]; t.now().Before(r.until) {
		return r.endpoint
	}
	return nil
}

func (t *table) keep(id string, e *Endpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if len(t.rows) >= tableRows {
		maps.DeleteFunc(t.rows, func(_ string, r row) bool { return !now.Before(r.until) })
	}
	if len(t.rows) >= tableRows {
		clear(t.rows)
	}
	t.rows[id] = row{e, now.Add(tableFor)}
}

// Messages returns a message for each endpoint of an event, to be enqueued in one batch: on the
// topic that is prefix and the endpoint's id. The type of the event is the header
// webhook-event-type of event or else its topic. Each message gets an id of its own when it is
// enqueued; a unique key or ordering key of the event gets the endpoint's id behind it, so that
// endpoints neither replace nor wait for each other.
func Messages(event outbox.Message, prefix string, ids ...string) []outbox.Message {
	headers := maps.Clone(event.Headers)
	if headers == nil {
		headers = map[string]string{}
	}
	if headerOf(&event, HeaderEventType) == "" {
		headers[HeaderEventType] = event.Topic
	}
	all := make([]outbox.Message, len(ids))
	for i, id := range ids {
		m := event
		m.ID, m.Topic, m.Headers = outbox.MessageID{}, prefix+id, headers
		if m.UniqueKey != "" {
			m.UniqueKey += "/" + id
		}
		if m.OrderingKey != "" {
			m.OrderingKey += "/" + id
		}
		if m.Unique != nil && m.Unique.Duplicate != nil {
			unique := *m.Unique
			unique.Duplicate = new(bool)
			m.Unique = &unique
		}
		all[i] = m
	}
	return all
}

// headerOf returns a header of a message, whose name may be in any case; "" if there is none.
func headerOf(m *outbox.Message, name string) string {
	if value, ok := m.Headers[name]; ok {
		return value
	}
	for key, value := range m.Headers {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}
