package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/bench/internal/peers"
	"github.com/bravellian/pawl/internal/test/chart"
)

// report collects what a run gives: text for the terminal and, in a folder of its own,
// the same text with a chart for every scenario.
type report struct {
	out       io.Writer
	dir       string // "" if nothing is written
	text      strings.Builder
	failures  []string
	disturbed int // repetitions beside which other processes were busy
	measured  int
	peered    bool // some of them of peers
}

// newReport names the folder after the moment, below results.
func newReport(results string) *report {
	rep := &report{}
	rep.out = io.MultiWriter(os.Stdout, &rep.text)
	if results == "" {
		return rep
	}
	rep.dir = filepath.Join(results, time.Now().Format("2006-01-02-150405"))
	return rep
}

// head writes where and with what the figures came about.
func (p *report) head(o options, srv *server) {
	fmt.Fprintf(p.out, "# Results of %s\n\n%s; %s", time.Now().Format(time.DateOnly), machine(), goVersion())
	if srv != nil {
		fmt.Fprintf(p.out, "; PostgreSQL %s, %s", srv.version, srv.durability)
	}
	fmt.Fprintf(p.out, "; n = %d, medians of %d\n", o.n, o.reps)
}

// add writes a scenario's table and chart.
func (p *report) add(s *scenario, results map[string][]figures) error {
	before := p.disturbed
	for name, reps := range results {
		p.peered = p.peered || s.isPeer(name)
		for _, f := range reps {
			p.measured++
			if f[colOthers] > disturbed {
				p.disturbed++
			}
		}
	}
	s.print(p.out, results)
	column := s.charted()
	title := s.name + " · " + s.engine + " · " + column
	if p.disturbed > before {
		title += " (disturbed)"
	}
	bars := s.bars(column, results)
	if p.dir == "" || len(bars) < 2 {
		return p.write()
	}
	name := s.file() + ".svg"
	fmt.Fprintf(&p.text, "\n![%s](%s)\n", title, name)
	if err := p.write(); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(p.dir, name))
	if err != nil {
		return err
	}
	if err := chart.Write(file, title, s.title, bars); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// write saves what there is so far: a run that is ended early leaves what it measured.
func (p *report) write() error {
	if p.dir == "" {
		return nil
	}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, "report.md"), []byte(p.text.String()), 0o644)
}

// file is the scenario's name for files: scenarios share letters.
func (s *scenario) file() string {
	words := strings.FieldsFunc(s.name+" "+s.engine+" "+s.title, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
	})
	keep := words[:2]
	for _, w := range words[2:] {
		if w == "Relaxed" || w == "unique" || w == "64" || w == "256" {
			keep = append(keep, strings.ToLower(w))
		}
	}
	return strings.Join(keep, "-")
}

// charted is the column of a chart: the figure that is compared, or how long half of the
// messages wait.
func (s *scenario) charted() string {
	if len(s.main) > 0 {
		return s.main[0]
	}
	return colP50
}

// bars are the medians of a column.
func (s *scenario) bars(column string, results map[string][]figures) (bars []chart.Bar) {
	for _, sys := range s.systems {
		var values []float64
		for _, f := range results[sys.name] {
			if v, ok := f[column]; ok {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			bars = append(bars, chart.Bar{Label: sys.name, Value: median(values), Text: cell(column, results[sys.name]), Mark: sys.name == s.systems[0].name})
		}
	}
	return bars
}

// fail notes that a system did not do what it was to do; the others are measured all the
// same.
func (p *report) fail(err error) {
	p.failures = append(p.failures, err.Error())
	fmt.Fprintln(os.Stderr, "bench:", err)
}

// end writes what holds for the whole run, and the file.
func (p *report) end(engines []string) error {
	if p.disturbed > 0 {
		fmt.Fprintf(p.out, "\n*Disturbed*: beside %d of %d repetitions other processes used more than %.1f cores.\n", p.disturbed, p.measured, disturbed)
	}
	for _, f := range p.failures {
		fmt.Fprintf(p.out, "\n**Failed**: %s\n", f)
	}
	p.peers(engines)
	if err := p.write(); err != nil {
		return err
	}
	if p.dir != "" {
		fmt.Fprintln(os.Stderr, "bench: written to", p.dir)
	}
	if len(p.failures) > 0 {
		return fmt.Errorf("%d failures", len(p.failures))
	}
	return nil
}

// peers lists versions and settings, if there were any.
func (p *report) peers(engines []string) {
	if !p.peered {
		return
	}
	fmt.Fprint(p.out, "\n### Peers\n\n| system | engine | version | settings |\n|---|---|---|---|\n")
	for _, engine := range []string{"postgres", "sqlite"} {
		if !slices.Contains(engines, engine) {
			continue
		}
		for _, peer := range peersOn(engine) {
			fmt.Fprintf(p.out, "| %s | %s | %s | %s |\n", peer.Name, engine, version(peer), peer.Settings)
		}
	}
}

func version(p peers.Peer) string {
	if p.Module == "" {
		return ""
	}
	return p.Module + " " + p.Version()
}
