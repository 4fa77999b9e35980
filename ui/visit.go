package ui

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// accessKey is what a request's context has its Access by.
type accessKey struct{}

// visit is a request for a page or a change.
type visit struct {
	*http.Request
	s      *server
	access Access
	query  url.Values
	base   string // leads from the page to the dashboard's root, so that it works below any path
	key    string // of the store that was chosen, or ""
	now    time.Time
}

func (s *server) visit(r *http.Request) *visit {
	access, _ := r.Context().Value(accessKey{}).(Access)
	query := r.URL.Query()
	depth := strings.Count(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	base := strings.Repeat("../", depth)
	if base == "" {
		base = "./"
	}
	return &visit{Request: r, s: s, access: access, query: query, base: base, key: query.Get("store"), now: time.Now()}
}

// hrefIn is a link to a page about a store, with a query of pairs; those that are empty are left out.
func (v *visit) hrefIn(store, path string, pairs ...string) string {
	return v.base + path + queryOf(url.Values{}, append([]string{"store", store}, pairs...)...)
}

// here is the page itself with some of its query changed: pairs of which the empty ones are dropped.
func (v *visit) here(pairs ...string) string {
	q := maps.Clone(v.query)
	q.Del("did")
	return v.base + strings.TrimPrefix(v.URL.EscapedPath(), "/") + queryOf(q, pairs...)
}

// queryOf is a query with some of it changed, as an address has it.
func queryOf(q url.Values, changes ...string) string {
	for _, one := range pairs(changes) {
		if q.Del(one.Name); one.Value != "" {
			q.Set(one.Name, one.Value)
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// maxStores is how many stores a page about all of them shows; it says so when there are more.
const maxStores = 50

// each asks the store that was chosen, or all stores side by side, and returns the answers in order of
// their keys. A store that does not answer is a block that says so.
func (v *visit) each(ask func(ctx context.Context, s *store) ([]block, error)) []block {
	keys := v.s.source.keys()
	switch {
	case v.key != "" || keys == nil:
		return v.ask(v.key, ask)
	case len(keys) == 0:
		return []block{{Note: "The fleet has no stores."}}
	}
	more := len(keys) - maxStores
	if more > 0 {
		keys = keys[:maxStores]
	}
	answers := make([][]block, len(keys))
	sideBySide(len(keys), func(i int) { answers[i] = v.ask(keys[i], ask) })
	var all []block
	for i, blocks := range answers {
		for j := range blocks {
			blocks[j].Store = keys[i]
		}
		all = append(all, blocks...)
	}
	if more > 0 {
		all = append(all, block{Note: plural(int64(more), "more store") + " not shown: choose one."})
	}
	return all
}

// sideBySide does something so many times, eight at once.
func sideBySide(n int, do func(int)) {
	turns := make(chan struct{}, 8)
	var asking sync.WaitGroup
	for i := range n {
		asking.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			do(i)
		})
	}
	asking.Wait()
}

// ask asks one store.
func (v *visit) ask(key string, ask func(ctx context.Context, s *store) ([]block, error)) []block {
	ctx, cancel := context.WithTimeout(v.Context(), v.s.opts.Timeout)
	defer cancel()
	s, err := v.s.source.open(ctx, key)
	if err != nil {
		return []block{{Error: v.problem(err)}}
	}
	blocks, err := ask(ctx, s)
	if err != nil {
		blocks = append(blocks, block{Error: v.problem(err)})
	}
	return blocks
}

// one returns the store that was chosen, of a page about something in it.
func (v *visit) one() (*store, error) { return v.s.source.open(v.Context(), v.key) }

// problem is an error as a page shows it.
func (v *visit) problem(err error) string {
	if v.Context().Err() == nil {
		v.s.log.WarnContext(v.Context(), "the dashboard could not read", "path", v.URL.Path, "store", v.key, "error", err)
	}
	return said(err)
}
