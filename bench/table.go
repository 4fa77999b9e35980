package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bravellian/pawl/bench/internal/peers"
)

// print writes a scenario's table: medians, and the main figures of every system
// as shares of each floor's, taken repetition by repetition.
func (s *scenario) print(w io.Writer, results map[string][]figures) {
	fmt.Fprintf(w, "\n### %s · %s: %s\n\n", s.name, s.engine, s.title)
	columns := s.columns(results)
	floors := s.floors(results)
	peer := s.isPeer
	if !slices.ContainsFunc(s.systems, func(sys system) bool { return peer(sys.name) && len(results[sys.name]) > 0 }) {
		peer = nil
	}
	head := append([]string{"system"}, columns...)
	for _, f := range floors {
		for _, c := range s.main {
			if len(s.main) == 1 {
				head = append(head, "of "+f)
			} else {
				head = append(head, c+" of "+f)
			}
		}
	}
	if peer != nil {
		head = append(head, "pawl faster by")
	}
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(head, " | "), "---|"+strings.Repeat("--:|", len(head)-1))
	for _, sys := range s.systems {
		reps := results[sys.name]
		if len(reps) == 0 {
			continue
		}
		cells := []string{sys.name}
		for _, c := range columns {
			cells = append(cells, cell(c, reps))
		}
		for _, f := range floors {
			for _, c := range s.main {
				cells = append(cells, share(c, reps, results[f]))
			}
		}
		if peer != nil {
			cells = append(cells, s.times(reps, results[s.systems[0].name]))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

// isPeer returns whether a system is one of those that scenarios share.
func (s *scenario) isPeer(name string) bool {
	return slices.ContainsFunc(peersOn(s.engine), func(p peers.Peer) bool { return p.Name == name })
}

// times is how many times as much pawl does as a system, or how many times shorter the
// wait is with it, repetition by repetition.
func (s *scenario) times(reps, pawl []figures) string {
	column := s.charted()
	var values []float64
	for i := range min(len(reps), len(pawl)) {
		ratio := pawl[i][column] / reps[i][column]
		if column == colP50 {
			ratio = 1 / ratio
		}
		values = append(values, ratio)
	}
	if len(values) == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f ×", median(values))
}

// columns are those that any system has.
func (s *scenario) columns(results map[string][]figures) []string {
	all := []string{colEnqueue, colDrain, colDue, colQueries, colQuery99, colRate, colOfPeak, colBacklog, colRecovery, colLast, colCommit, colP50, colClaim, colAck, colFollowUp, colLate, colWoken, colPlainP50, colP90, colP99, colP999, colLast50, colLast99, colMax, colAfter, colClient, colServer, colWAL, colAllocs, colDead, colCommits, colVacuum, colSize, colDoubled, colUsed,
		colParked, colParkedSize, colParkedWAL, colClientShare, colServerShare, colIdleWAL, colConnections, colMostConnections, colTransactions, colFiles, colHeap, colGoroutines, colMemory,
		colBusyHeap, colBusyGoroutines, colBusyConnections, colAgainHeap, colAgainGoroutines, colOthers}
	for _, kind := range kinds() {
		all = append(all, kind.String()+" "+colPlainP50, kind.String()+" "+colP90, kind.String()+" "+colP99)
	}
	return slices.DeleteFunc(all, func(c string) bool {
		for _, reps := range results {
			for _, f := range reps {
				if _, ok := f[c]; ok {
					return false
				}
			}
		}
		return true
	})
}

// floors are what the others are compared with.
func (s *scenario) floors(results map[string][]figures) (names []string) {
	if len(s.main) == 0 || len(s.systems) == 0 {
		return nil
	}
	if first := s.systems[0].name; strings.Contains(first, onCores) && len(results[first]) > 0 {
		return []string{first}
	}
	for _, sys := range s.systems {
		if sys.name == plain && len(results[plain]) > 0 {
			return []string{plain}
		}
	}
	for _, sys := range s.systems[1:] {
		if len(results[sys.name]) > 0 && !s.isPeer(sys.name) {
			names = append(names, sys.name)
		}
	}
	return names
}

func cell(column string, reps []figures) string {
	var values []float64
	for _, f := range reps {
		if v, ok := f[column]; ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return ""
	}
	v := median(values)
	switch {
	case strings.HasSuffix(column, "ms"), column == colDead, column == colCommits, strings.HasSuffix(column, "%"):
		return fmt.Sprintf("%.2f", v)
	case column == colOthers:
		return otherLoad(values)
	case strings.Contains(column, "µs"), column == colSize, column == colRecovery, column == colAllocs, strings.HasPrefix(column, "busy:"), strings.HasPrefix(column, "idle again:"), column == colGoroutines, column == colHeap:
		return fmt.Sprintf("%.1f", v)
	}
	return thousands(int(v + 0.5))
}

// otherLoad is how many cores other processes used, and how often that was too much.
func otherLoad(values []float64) string {
	text := fmt.Sprintf("%.2f", median(values))
	high := 0
	for _, v := range values {
		if v > disturbed {
			high++
		}
	}
	if high > 0 {
		text += fmt.Sprintf(" (*disturbed* %d of %d)", high, len(values))
	}
	return text
}

func share(column string, reps, floor []figures) string {
	var values []float64
	for i := range min(len(reps), len(floor)) {
		values = append(values, reps[i][column]/floor[i][column])
	}
	return fmt.Sprintf("%.0f %%", 100*median(values))
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	k := len(values)
	return (values[(k-1)/2] + values[k/2]) / 2
}

func thousands(v int) string {
	text := fmt.Sprint(v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
