package ui

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/outbox"
)

// findPage leads to what has a name or id: a message, join, timer or job, a topic or queue, or the messages
// with a correlation id.
func findPage(v *visit) (*screen, error) {
	sc := &screen{Title: "Find", Still: true, Blocks: []block{{Note: "Nothing has this id, name or correlation id."}}}
	q := strings.TrimSpace(v.query.Get("q"))
	if q == "" {
		sc.Blocks[0].Note = "Find a message, join, timer or job by its id, a topic, queue or store by its name, messages by their correlation id."
		return sc, nil
	}
	if slices.Contains(v.s.source.keys(), q) {
		return &screen{Location: v.hrefIn(q, "")}, nil
	}
	keys, _ := v.stores()
	for _, key := range keys {
		to, err := askOne(v, key, func(ctx context.Context, s *store) (string, error) { return v.found(ctx, s, q) })
		if err != nil {
			sc.Blocks = append(sc.Blocks, block{Store: key, Error: v.problem(err)})
		} else if to != "" {
			return &screen{Location: to}, nil
		}
	}
	return sc, nil
}

// found is where something is in a store; "" if it is not there.
func (v *visit) found(ctx context.Context, s *store, q string) (string, error) {
	if e, err := s.Admin.Explain(ctx, q); err == nil {
		return v.explainedAt(s.key, e), nil
	} else if !errors.Is(err, admin.ErrNotFound) {
		return "", err
	}
	p, err := v.picture(ctx, s, window{since: time.Hour})
	if err != nil {
		return "", err
	}
	for kind, path := range map[admin.Kind]string{admin.Topic: "topic", admin.Queue: "queue"} {
		for _, one := range p.subjects(kind, "") {
			if one.name == q {
				return v.hrefIn(s.key, path, "name", q), nil
			}
		}
	}
	if !v.access.Details { // correlation ids are what programs wrote
		return "", nil
	}
	for _, err := range s.Outbox.List(ctx, outbox.ListOptions{CorrelationID: q, NoPayload: true}) {
		return v.hrefIn(s.key, "messages", "correlation", q), err
	}
	return "", nil
}

// explainedAt is the page of what was explained.
func (v *visit) explainedAt(key string, e *admin.Explanation) string {
	switch e.Kind {
	case "join":
		return v.hrefIn(key, "joins/"+url.PathEscape(e.ID))
	case "job":
		return v.hrefIn(key, "job", "name", e.ID)
	case "timer":
		return v.hrefIn(key, "timers", "id", e.ID)
	case "inbox":
		source, id, _ := strings.Cut(e.ID, "/")
		return v.hrefIn(key, "inbox", "source", source, "id", id)
	}
	return v.hrefIn(key, "messages/"+url.PathEscape(e.ID))
}
