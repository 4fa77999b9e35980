package ui

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/bravellian/pawl"
	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/fleet"
	"github.com/bravellian/pawl/inbox"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/join"
	"github.com/bravellian/pawl/lease"
	"github.com/bravellian/pawl/outbox"
	"github.com/bravellian/pawl/timer"
)

//go:embed assets templates
var files embed.FS

// page is one page of the dashboard.
type page struct {
	pattern string
	nav     string // its name in the navigation; none if it is about one thing
	path    string // where the navigation leads
	fleet   bool   // it makes sense for a fleet alone
	show    func(*visit) (*screen, error)
}

// layout is what the template of every page gets.
type layout struct {
	*screen
	Base, Path string
	Nav        []navigation
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

type navigation struct {
	Name, Href string
	Current    bool
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

// page answers a request for a page.
func (s *server) page(w http.ResponseWriter, r *http.Request, p page) {
	v := s.visit(r)
	sc, err := p.show(v)
	status := http.StatusOK
	if err != nil {
		status = statusOf(err)
		sc = &screen{Title: http.StatusText(status), Blocks: []block{{Error: said(err)}}}
	}
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
	case err == nil:
		return http.StatusOK
	case missing(err) != nil:
		return http.StatusNotFound
	case errors.Is(err, pawl.ErrInvalid):
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
			l.Nav = append(l.Nav, navigation{one.nav, v.hrefIn(v.key, one.path), one.nav == p.nav})
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
