package ui

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/flow"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

//go:embed assets templates
var files embed.FS

type page struct {
	pattern string
	nav     string // its name in the navigation; none if it is about one thing
	fleet   bool   // it makes sense for a fleet alone
	show    func(*visit) (*screen, error)
}

// layout is what the template of every page gets.
type layout struct {
	*screen
	Base, Path string
	Nav        []choice
	Stores     []string
	Store      string
	Access     Access
	ReadOnly   bool
	Did        string
	Names      []string // that the field for finding suggests
	Live       string   // the address of the page itself, if it is kept up to date
	Every      string   // how often that is
	Back       string   // the same from the dashboard's root
}

// templates are those of all pages.
func templates() *template.Template {
	t := template.New("").Funcs(template.FuncMap{
		"rfc3339": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"utc":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") },
		"slug":    func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "-")) },
		"pairs":   pairs,
		"timed":   timed,
		"dict": func(pairs ...any) map[string]any {
			named := map[string]any{}
			for i := 0; i+1 < len(pairs); i += 2 {
				named[pairs[i].(string)] = pairs[i+1]
			}
			return named
		},
	})
	return template.Must(t.ParseFS(files, "templates/*.html"))
}

// pair is a name with its value, of a hidden field.
type pair struct{ Name, Value string }

func pairs(list []string) (all []pair) {
	for i := 0; i+1 < len(list); i += 2 {
		all = append(all, pair{list[i], list[i+1]})
	}
	return all
}

func (s *server) page(w http.ResponseWriter, r *http.Request, p page) {
	v := s.visit(r)
	sc, err := p.show(v)
	status := http.StatusOK
	if err != nil {
		status = statusOf(err)
		sc = &screen{Title: http.StatusText(status), Blocks: []block{{Error: said(err)}}}
	}
	sc.Title = cmp.Or(sc.Title, p.nav)
	if sc.Location != "" {
		w.Header().Set("Location", sc.Location)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	s.render(w, v, p, sc, status)
}

// missing returns which error of those for what is not there an error is; nil if it is none.
func missing(err error) error {
	for _, none := range []error{outbox.ErrNotFound, outbox.ErrNoBulk, join.ErrNotFound, timer.ErrNotFound, job.ErrNotFound, inbox.ErrNotFound, lease.ErrNotFound, admin.ErrNotFound, fleet.ErrUnknownStore} {
		if errors.Is(err, none) {
			return none
		}
	}
	return nil
}

// said is an error as pages show it. What is not there is not named: an address names it, and a page
// says nothing that somebody wrote into a link.
func said(err error) string {
	if none := missing(err); none != nil {
		return none.Error()
	}
	return err.Error()
}

// statusOf is the status of a page that cannot be shown.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errPreview):
		return http.StatusOK
	case missing(err) != nil:
		return http.StatusNotFound
	case errors.Is(err, pawl.ErrInvalid), errors.Is(err, flow.ErrTooLarge):
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, pawl.ErrUnavailable):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func (s *server) render(w http.ResponseWriter, v *visit, p page, sc *screen, status int) {
	l := layout{
		screen: sc, Base: v.base, Path: strings.TrimPrefix(v.URL.Path, "/"), Stores: s.source.keys(), Store: v.key, Access: v.access, ReadOnly: s.opts.ReadOnly,
		Did: s.notices.text(v.query.Get("did")), Back: strings.TrimPrefix(v.here(), v.base),
		Names: s.pictures.suggested(s.source.keys(), v.key),
	}
	if v.Method == http.MethodPost { // there is no such page
		l.Path = ""
	}
	if status == http.StatusOK && !sc.Still { // what is not there would be asked for again and again
		l.Live, l.Every = v.here(), fmt.Sprintf("%dms", s.opts.Refresh.Milliseconds())
	}
	for _, one := range pages() {
		if one.nav != "" && (!one.fleet || s.source.fleet != nil) {
			l.Nav = append(l.Nav, choice{one.nav, v.hrefIn(v.key, strings.Trim(one.pattern, "/{$}")), one.nav == p.nav})
		}
	}
	var b bytes.Buffer
	if err := s.templates.ExecuteTemplate(&b, "layout.html", l); err != nil {
		s.log.ErrorContext(v.Context(), "the dashboard could not make a page", "path", v.URL.Path, "error", err)
		http.Error(w, "500 the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// pages are the pages of the dashboard, in the order of the navigation.
func pages() []page {
	state := func(states ...string) input { return input{Name: "status", Label: "State", Options: states} }
	of := func(name, label string) input { return input{Name: name, Label: label} }
	return []page{
		{pattern: "/{$}", nav: "Overview", show: overview},
		{pattern: "/problems", nav: "Problems", show: problems},
		{pattern: "/messages", nav: "Messages", show: messages},
		{pattern: "/messages/{id}", show: inStore(message)},
		{pattern: "/failed", nav: "Failed", show: failed},
		{pattern: "/bulk", nav: "Bulk acts", show: ofStores((*visit).bulkActs)},
		{pattern: "/topics", nav: "Topics and queues", show: pictured((*visit).topicsAndQueues, of("name", "Name contains"))},
		{pattern: "/find", show: findPage},
		{pattern: "/topic", show: func(v *visit) (*screen, error) { return v.subjectPage(admin.Topic, "Topic") }},
		{pattern: "/queue", show: func(v *visit) (*screen, error) { return v.subjectPage(admin.Queue, "Queue") }},
		{pattern: "/joins", nav: "Joins", show: listing((*visit).listJoins, (*visit).joinTable, state(joinStates()...), of("group", "Grouping key"))},
		{pattern: "/joins/{id}", show: inStore(oneJoin)},
		{pattern: "/inbox", nav: "Inbox", show: listing((*visit).listInbox, (*visit).inboxTable, state(inboxStates()...), of("source", "Source"), of("id", "Message id"))},
		{pattern: "/timers", nav: "Timers", show: ofStores((*visit).timers, state(names(timer.Scheduled, timer.Claimed, timer.Fired, timer.Failed, timer.Cancelled)...), of("topic", "Topic"), of("key", "Key"), of("id", "Timer id"))},
		{pattern: "/jobs", nav: "Jobs", show: ofStores((*visit).jobs)},
		{pattern: "/job", show: inStore(oneJob)},
		{pattern: "/job/edit", show: inStore(editJob)},
		{pattern: "/leases", nav: "Leases", show: listing((*visit).listLeases, (*visit).leaseTable, state(leaseStates()...))},
		{pattern: "/workers", nav: "Workers", show: ofStores((*visit).workers)},
		{pattern: "/stores", nav: "Stores", fleet: true, show: stores},
		{pattern: "/audit", nav: "Audit", show: listing((*visit).listAudit, (*visit).auditTable, of("actor", "Who"), of("action", "What"))},
	}
}

// accessKey is what a request's context has its Access by.
type accessKey struct{}

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
	base := cmp.Or(strings.Repeat("../", depth), "./")
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

// stores are the keys of the store that was chosen, or of all stores, and how many more there are.
func (v *visit) stores() (keys []string, more int) {
	keys = v.s.source.keys()
	if v.key != "" || keys == nil {
		return []string{v.key}, 0
	}
	shown := min(len(keys), maxStores)
	return keys[:shown], len(keys) - shown
}

// each asks the store that was chosen, or all stores side by side, and returns the answers in order of
// their keys. A store that does not answer is a block that says so.
func (v *visit) each(ask func(ctx context.Context, s *store) ([]block, error)) []block {
	keys, more := v.stores()
	answers := make([][]block, len(keys))
	sideBySide(len(keys), func(i int) {
		blocks, err := askOne(v, keys[i], ask)
		if err != nil { // what was read nevertheless may be half of it
			blocks = []block{{Error: v.problem(err)}}
		}
		for j := range blocks {
			if keys[i] != v.key {
				blocks[j].Store = keys[i]
			}
		}
		answers[i] = blocks
	})
	all := slices.Concat(answers...)
	switch {
	case len(keys) == 0:
		return []block{{Note: "The fleet has no stores."}}
	case more > 0:
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

// askOne asks a store, for as long as a page may.
func askOne[T any](v *visit, key string, ask func(ctx context.Context, s *store) (T, error)) (answer T, err error) {
	ctx, cancel := context.WithTimeout(v.Context(), v.s.opts.Timeout)
	defer cancel()
	s, err := v.s.source.open(ctx, key)
	if err != nil {
		return answer, err
	}
	return ask(ctx, s)
}

// ofStores is a page with blocks about the store that was chosen, or each of all stores.
func ofStores(show func(*visit, context.Context, *store) ([]block, error), filter ...input) func(*visit) (*screen, error) {
	return func(v *visit) (*screen, error) {
		blocks := v.each(func(ctx context.Context, s *store) ([]block, error) { return show(v, ctx, s) })
		return &screen{Filter: v.filter(filter...), Blocks: blocks}, nil
	}
}

// inStore is a page about something in the store that was chosen.
func inStore(show func(*visit, *store) (*screen, error)) func(*visit) (*screen, error) {
	return func(v *visit) (*screen, error) {
		s, err := v.s.source.open(v.Context(), v.key)
		if err != nil {
			return nil, err
		}
		return show(v, s)
	}
}

// problem is an error as a page shows it.
func (v *visit) problem(err error) string {
	if v.Context().Err() == nil {
		v.s.log.WarnContext(v.Context(), "the dashboard could not read", "path", v.URL.Path, "store", v.key, "error", err)
	}
	return said(err)
}

// everything is the limit of a change that is meant for all that its filter selects.
const everything = "all"

// params reads a form, or the query of an address. Its error is what is wrong first: it has to be looked at before
// anything is done with what was read.
type params struct {
	url.Values
	err error
}

func (v *visit) params() *params { return &params{Values: v.query} }

func (f *params) wrong(name, format string, args ...any) {
	f.err = cmp.Or(f.err, engine.Invalid(name, format, args...))
}

// single returns a value that may be given once.
func (f *params) single(name string) string {
	if len(f.Values[name]) > 1 {
		f.wrong(name, "given twice")
	}
	return f.Get(name)
}

// whole reads a whole number; 0 if it is not given.
func (f *params) whole(name string) int {
	n, err := strconv.Atoi(cmp.Or(f.single(name), "0"))
	if err != nil {
		f.wrong(name, "no whole number")
	}
	return n
}

// number reads a whole number that is at least 1; 0 if it is not given.
func (f *params) number(name string) int {
	n := f.whole(name)
	if n < 1 && f.Get(name) != "" {
		f.wrong(name, "no whole number of at least 1")
	}
	return n
}

// limit reads how many a change is for at most; 0 is all of them, which has to be asked for.
func (f *params) limit() int {
	switch f.single("limit") {
	case "":
		f.wrong("limit", "missing: how many at most, or %q", everything)
	case everything:
		return 0
	}
	return f.number("limit")
}

// required is in place of what a duration is otherwise, if it has to be given.
const required time.Duration = -1

// duration reads a duration that is not negative; it is otherwise if it is not given.
func (f *params) duration(name string, otherwise time.Duration) (d time.Duration) {
	d, err := otherwise, error(nil)
	if text := f.Get(name); text != "" {
		d, err = time.ParseDuration(text)
	}
	if err != nil || d < 0 {
		f.wrong(name, "no duration, such as 90s, 10m or 24h")
	}
	return d
}

// due reads the time after a duration from now.
func (f *params) due() time.Time { return time.Now().Add(f.duration("in", required)) }

// place reads the two parts of the cursor of a page; none if it is not given.
func (f *params) place() []string {
	q, err := url.ParseQuery(f.Get("after"))
	parts := q["at"]
	if f.Get("after") != "" && (err != nil || len(parts) != 2) {
		f.wrong("after", "none of a list's")
		return nil
	}
	return parts
}

// oneOf reads a word that is one of those that a filter offers, or none.
func oneOf[S ~string](f *params, name string, options []string) S {
	word := f.Get(name)
	if word != "" && !slices.Contains(options, word) {
		f.wrong(name, "not one of %q", options)
	}
	return S(word)
}

// idOf reads an id, or none.
func idOf[ID any](f *params, name string, parse func(string) (ID, error)) (id ID) {
	if text := f.Get(name); text != "" {
		var err error
		id, err = parsed(parse, text)
		f.err = cmp.Or(f.err, err)
	}
	return id
}

// parsed reads an id; one that is none is the caller's mistake.
func parsed[ID any](parse func(string) (ID, error), text string) (ID, error) {
	id, err := parse(text)
	if err != nil {
		err = engine.Invalid("id", "none of pawl's")
	}
	return id, err
}

// names are words of a type as they are written.
func names[S ~string](words ...S) (all []string) {
	for _, word := range words {
		all = append(all, string(word))
	}
	return all
}

// alike reports whether a value is what a filter names, if it names any.
func alike[T comparable](filter, value T) bool { return filter == *new(T) || filter == value }
