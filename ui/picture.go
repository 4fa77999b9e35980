package ui

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bravellian/pawl/admin"
	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/activity"
	"github.com/bravellian/pawl/internal/engine"
	"github.com/bravellian/pawl/internal/engine/op"
	"github.com/bravellian/pawl/internal/inspect"
	"github.com/bravellian/pawl/internal/registry"
	"github.com/bravellian/pawl/job"
	"github.com/bravellian/pawl/outbox"
)

// picture is what is known of a store at a time: the overview and the lists of topics and queues show it.
type picture struct {
	setting
	window   window
	backlog  inspect.Backlog
	activity inspect.Activity
}

// setting is the part of a picture that changes slowly, or takes many statements to find out.
type setting struct {
	health    health.Report
	pauses    []admin.Pause
	limits    []admin.Limit
	workers   inspect.Workers // that are alive
	unhandled []inspect.Trouble
	extent    op.ActivitySpan
	clock     op.Clock
	jobs      []string  // some of them
	at        time.Time // here, when it was read
}

// pictures are the latest ones of the stores, and their settings. One is shown for a while to whoever looks: many
// viewers cost what one does.
type pictures struct {
	keep time.Duration // a picture; a setting is kept for longer
	mu   sync.Mutex
	all  map[string]*shared
	// names are what the latest picture of each store knows by its name.
	names map[string][]string
}

type shared struct {
	mu  sync.Mutex
	at  time.Time
	of  any
	err error
}

const (
	keepSetting = 15 * time.Second // for how long a setting is shown
	maxFailed   = 200              // of how many failed messages a picture has the topic and queue
	maxPictures = 200              // that are kept
	maxNames    = 200              // of topics, queues, jobs and stores that a page suggests
	maxNameSize = 10_000           // bytes of these
)

// put adds a value to a map, which is emptied before it has more than so many.
func put[V any](all *map[string]V, key string, one V, most int) {
	if *all == nil || len(*all) >= most {
		*all = map[string]V{}
	}
	(*all)[key] = one
}

// latest returns what was read within a time, and reads it otherwise: once for all that ask meanwhile.
func latest[T any](p *pictures, key string, keep time.Duration, read func() (T, error)) (T, error) {
	p.mu.Lock()
	one := p.all[key]
	if one == nil {
		one = &shared{}
		put(&p.all, key, one, maxPictures)
	}
	p.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if time.Since(one.at) > keep || one.err != nil {
		one.of, one.err = read()
		one.at = time.Now()
	}
	return one.of.(T), one.err
}

// picture returns the picture of a store, with what was done in a window, as the visitor may read it.
func (v *visit) picture(ctx context.Context, s *store, w window) (*picture, error) {
	all, keep := &v.s.pictures, v.s.pictures.keep
	if !w.until.IsZero() {
		keep = 0 // few look at it
	}
	p, err := latest(all, s.key+"\x00"+w.since.String()+w.until.String(), keep, func() (p picture, err error) {
		p.window = w
		p.setting, err = latest(all, s.key, max(keepSetting, all.keep), func() (setting, error) { return readSetting(ctx, s) })
		if err == nil {
			err = p.read(ctx, s)
		}
		if err == nil {
			all.mu.Lock()
			defer all.mu.Unlock()
			put(&all.names, s.key, p.named(), maxPictures)
		}
		return p, err
	})
	p.health = v.redactReport(p.health)
	return &p, err
}

// named are the jobs, queues and topics of a picture, by name.
func (p *picture) named() []string {
	all := slices.Clone(p.jobs)
	for i := range p.backlog.Messages {
		all = append(all, p.backlog.Messages[i].Topic, p.backlog.Messages[i].Queue)
	}
	for i := range p.activity.Topics {
		all = append(all, p.activity.Topics[i].Topic, p.activity.Topics[i].Queue)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxNames)]
}

// suggested are names to find something by: of these stores, and of what is known of the chosen one, or of
// all. It reads nothing.
func (p *pictures) suggested(stores []string, key string) (all []string) {
	p.mu.Lock()
	all = append(all, stores[:min(len(stores), maxNames)]...)
	for of, names := range p.names {
		if key == "" || of == key {
			all = append(all, names...)
		}
	}
	p.mu.Unlock()
	slices.Sort(all)
	all = slices.Compact(all)
	size := 0
	for i, name := range all {
		if size += len(name); i == maxNames || size > maxNameSize {
			return all[:i]
		}
	}
	return all
}

// forget drops them: whoever changed something sees what became of it.
func (p *pictures) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = nil
}

func readSetting(ctx context.Context, s *store) (p setting, err error) {
	p.health, p.at = s.Health(ctx), time.Now()
	troubled, trouble := inspect.ListTrouble()
	list, workers := registry.Listing()
	if err = engine.ReadAll(ctx, s.db(), append(troubled, list, engine.One(op.ClockNow{}, &p.clock), engine.One(op.ActivityExtent{}, &p.extent))...); err != nil {
		return p, err
	}
	all := inspect.Workers(workers())
	p.unhandled, p.workers = all.WithoutHandler(trouble()), all.Alive()
	if p.pauses, err = s.Admin.Pauses(ctx); err == nil {
		p.limits, err = s.Admin.Limits(ctx)
	}
	some, unread := engine.Collect(s.Jobs.List(ctx, job.ListOptions{}), maxNames)
	for i := range some {
		p.jobs = append(p.jobs, some[i].Name)
	}
	return p, errors.Join(err, unread)
}

// read reads what changes all the time: in one round trip where the database can.
func (p *picture) read(ctx context.Context, s *store) error {
	calls, backlog := inspect.ListBacklog(maxFailed)
	more, activity, err := inspect.ListActivity(inspect.ActivityQuery{Since: p.window.since, Until: p.window.until}, p.clock.Now.Add(time.Since(p.at)), &p.extent)
	if err == nil {
		err = engine.ReadAll(ctx, s.db(), append(calls, more...)...)
	}
	if err == nil {
		p.backlog, p.activity = backlog(p.unhandled), activity()
	}
	return err
}

// subject is a topic or a queue, with what is known of it.
type subject struct {
	kind     admin.Kind
	name     string
	level    health.Level // of the worst that health finds about it
	state    cell         // a word for that
	findings []health.Finding
	states   map[string]int64 // messages

	more, moreFailed bool          // there may be more of them: of those that did not fail, and of those that did
	oldest           time.Duration // of those that are due
	done             sums
	pause            *admin.Pause
	limit            *admin.Limit
	by               inspect.Workers
}

// sums are what workers did with some topics.
type sums struct {
	activity.Totals
	enqueued int64
	steps    []inspect.ActivityStep
}

func (s *sums) add(t *inspect.TopicActivity) {
	s.Add(&t.Totals)
	s.enqueued += t.Enqueued
	if s.steps == nil {
		s.steps = slices.Clone(t.Steps)
		return
	}
	for i := range s.steps {
		s.steps[i].Add(&t.Steps[i].Totals)
		s.steps[i].Enqueued += t.Steps[i].Enqueued
	}
}

// waiting is how many messages are due and not begun.
func (s *subject) waiting() int64 {
	return s.states["ready"] + s.states["paused"] + s.states["unhandled"]
}

// subjects are the topics or queues that anything is known of, the most urgent first. in is the queue whose
// topics they are; "": of all.
func (p *picture) subjects(kind admin.Kind, in string) (all []*subject) {
	named := map[string]*subject{}
	get := func(name string) *subject {
		one := named[name]
		if one == nil {
			one = &subject{kind: kind, name: name, states: map[string]int64{}}
			named[name] = one
		}
		return one
	}
	for i := range p.backlog.Messages {
		a := &p.backlog.Messages[i]
		if in != "" && a.Queue != in {
			continue
		}
		one := get(map[admin.Kind]string{admin.Topic: a.Topic, admin.Queue: a.Queue}[kind])
		one.states[a.State] += a.Count
		failed := a.State == "failed"
		one.more, one.moreFailed, one.oldest = one.more || a.More && !failed, one.moreFailed || a.More && failed, max(one.oldest, a.Oldest)
	}
	for i := range p.activity.Topics {
		if t := &p.activity.Topics[i]; in == "" || t.Queue == in {
			get(map[admin.Kind]string{admin.Topic: t.Topic, admin.Queue: t.Queue}[kind]).done.add(t)
		}
	}
	for i := range p.workers {
		w := &p.workers[i]
		for _, name := range map[admin.Kind][]string{admin.Topic: w.Topics, admin.Queue: w.Queues}[kind] {
			if in == "" {
				get(name)
			}
		}
	}
	for i := range p.pauses {
		if h := &p.pauses[i]; h.Kind == kind && (in == "" || named[h.Name] != nil) {
			get(h.Name).pause = h
		}
	}
	delete(named, "") // messages that were not read for their topic, and lanes that are not registered
	for _, one := range named {
		p.complete(one)
		all = append(all, one)
	}
	slices.SortFunc(all, urgency)
	return all
}

// subject is the topic or queue of a name, if anything is known of it.
func (p *picture) subject(kind admin.Kind, name string) *subject {
	for _, one := range p.subjects(kind, "") {
		if one.name == name {
			return one
		}
	}
	return nil
}

// complete adds what is known of a subject by its name.
func (p *picture) complete(one *subject) {
	for i := range p.limits {
		if l := &p.limits[i]; l.Kind == one.kind && l.Name == one.name {
			one.limit = l
		}
	}
	if one.by = p.workers.Handling(one.name); one.kind == admin.Queue {
		one.by = p.workers.Serving(one.name)
	}
	for _, f := range p.health.Findings {
		if f.Level > health.Note && about(&f, one) {
			one.findings = append(one.findings, f)
			if f.Level > one.level {
				one.level = f.Level
				one.state.State, _, _ = strings.Cut(f.Code, "/")
			}
		}
	}
	switch {
	case one.state.State != "":
	case one.states["failed"] > 0: // somebody has to say what becomes of them
		one.level, one.state = health.Warning, cell{State: "failed for good", Text: grouped(one.states["failed"])}
	case one.pause != nil:
		one.state = state("paused")
	case one.waiting()+one.states["in_flight"]+one.done.Done+one.done.Retried+one.done.Failed > 0:
		one.state = state("ok")
	default:
		one.state = state("idle")
	}
}

// about reports whether a finding is about a topic or queue.
func about(f *health.Finding, one *subject) bool {
	kind, name, _ := strings.Cut(f.Code, "/")
	switch {
	case one.kind == admin.Queue:
		return f.Code == "waiting/queue/"+one.name
	case kind == "limited":
		return name == one.name
	case kind != "failing" && kind != "unhandled":
		return false
	}
	return f.Facts.Get("topic") == one.name || f.Facts.Get("topic") == nil && strings.TrimSuffix(name, "/"+outbox.DefaultQueue) == one.name
}

// urgency orders subjects: what is wrong, what fails, what waits for long, what waits, by name.
func urgency(a, b *subject) int {
	return cmp.Or(
		cmp.Compare(b.level, a.level), cmp.Compare(b.done.Retried+b.done.Failed, a.done.Retried+a.done.Failed),
		cmp.Compare(b.oldest, a.oldest), cmp.Compare(b.waiting(), a.waiting()), cmp.Compare(a.name, b.name),
	)
}
