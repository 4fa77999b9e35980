package main

import (
	"context"
	"testing"
	"time"
)

func TestEstimates(t *testing.T) {
	for _, c := range []struct {
		n    int64
		rate float64
		want string
	}{{0, 5, ""}, {5, 0, ""}, {1, 1000, ", about 1s"}, {90, 1, ", about 1m30s"}, {120, 1, ", about 2m"}, {3600, 1, ", about 1h"}, {1 << 62, 1e-9, ""}} {
		if got := remaining(c.n, c.rate); got != c.want {
			t.Errorf("%d at %v/s: %q, want %q", c.n, c.rate, got, c.want)
		}
	}
	for _, c := range []struct {
		done, total int64
		want        string
	}{{0, 0, "··········"}, {0, 3, "··········"}, {1, 2, "█████·····"}, {3, 3, "██████████"}, {4, 3, "██████████"}} {
		if got := gauge(c.done, c.total); got != c.want {
			t.Errorf("%d of %d: %s", c.done, c.total, got)
		}
	}
}

// What is left goes down with what is handled, until the next count.
func TestCountdown(t *testing.T) {
	c := &countdown{}
	if bar, left := c.text(10, 1); bar != "" || left != "" {
		t.Errorf("unknown: %q %q", bar, left)
	}
	c.known, c.last, c.then = true, backlog{n: 100}, 50
	if bar, left := c.text(100, 10); bar != "██████···· " || left != "; 50 left, about 5s" {
		t.Errorf("%q %q", bar, left)
	}
	c.last.more = true
	if bar, left := c.text(200, 10); bar != "" || left != "; at least 0 left" {
		t.Errorf("%q %q", bar, left)
	}
}

func TestCountOfWhatWaits(t *testing.T) {
	onBoth := map[string]func(*testing.T) *database{"sqlite": onSQLite, "postgres": onPostgres}
	for name, on := range onBoth {
		t.Run(name, func(t *testing.T) {
			d := on(t)
			d.must(numbered(30), "enqueue", "--topic", "t", "--migrate")
			d.must(numbered(5), "enqueue", "--topic", "t", "--queue", "other")
			d.must(numbered(7), "enqueue", "--topic", "t", "--due", "1h")
			g := &options{}
			for _, flag := range d.flags {
				switch value := flag[len("--db="):]; flag[:5] {
				case "--db=":
					g.DB = value
				default:
					g.Schema = flag[len("--schema="):]
				}
			}
			s, err := g.open(t.Context(), opening{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			w, err := countWaiting(ctx, s, []string{"default"})
			if err := s.close(err); err != nil || w != (backlog{n: 30}) {
				t.Errorf("%+v, %v", w, err)
			}
		})
	}
}
