package ui

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bravellian/pawl/health"
	"github.com/bravellian/pawl/internal/engine"
)

// Bounds of what pages read and show: whatever there is, a page costs no more.
const (
	pageSize       = 50       // rows that a page of a list has
	pageRead       = 10_000   // rows that are read for it: where few match, it has fewer rows, or none, and leads on
	maxStores      = 50       // of a page about all stores, which says so when there are more
	onOverview     = 25       // topics and queues of the overview; a link leads to all
	onVerdict      = 5        // findings below its verdict
	fewActions     = 3        // pauses that a finding offers to end
	fewMessages    = 10       // of a group that failed
	timersDrawn    = 1000     // timers that are read for the next day's histogram
	stripRuns      = 20       // last runs of a job that are drawn
	maxLine        = 160      // bytes of an error in a table
	maxShown       = 64 << 10 // bytes of a payload
	maxInRow       = 1 << 10  // bytes of a result that a table shows whole
	explainedError = 300      // characters of an error that an explanation has
	maxForm        = 1 << 20  // bytes of a form: a page of rows with the longest names that there are
	maxNotices     = 1000     // results of changes that are remembered
)

// screen is what a page shows: blocks, one below the other. Templates know how each of them looks, so
// that a page about something new is Go alone.
type screen struct {
	Title    string
	Location string // of the page that is shown instead
	Still    bool   // it is not kept up to date: what it shows takes much to find out
	Filter   *filter
	Blocks   []block
}

// block is a part of a screen: of what it has, all is shown in the order of the fields.
type block struct {
	Heading  string
	Live     bool   // the page is kept up to date while it is there
	Store    string // whose data it is, on a page about several stores
	Note     string
	Error    string // why it could not be read
	Verdict  *verdictBox
	Findings []finding
	Actions  []action
	Facts    []fact
	Chart    *chart
	Graph    *graph
	Timeline *timeline
	Table    *table
	Text     *text
}

// finding is what a diagnosis found.
type finding struct {
	health.Finding
	Href    string // leads to what it is about
	Actions []action
}

// Evidence is what a finding rests on, but for what its summary lists.
func (f *finding) Evidence() health.Facts {
	return slices.DeleteFunc(slices.Clone(f.Facts), func(one health.Fact) bool {
		_, listed := one.Value.(map[string]string)
		return listed
	})
}

var instant = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z`)

// timed takes the times out of a sentence, so that they are shown as others are.
func timed(sentence string) (all []cell) {
	for at := instant.FindStringIndex(sentence); at != nil; at = instant.FindStringIndex(sentence) {
		t, err := time.Parse(time.RFC3339, strings.Replace(sentence[at[0]:at[1]], " ", "T", 1))
		if err != nil {
			break
		}
		all = append(all, cell{Text: sentence[:at[0]], Time: t})
		sentence = sentence[at[1]:]
	}
	return append(all, words(sentence))
}

// fact is a named value.
type fact struct {
	Name  string
	Value cell
}

// table is rows below a head.
type table struct {
	Columns []column
	Rows    [][]cell
	None    string // shown if there are no rows
	More    string // leads to the next page

	Select       *selection
	Dense        bool   // its rows are low: many fit on a screen
	All, AllHref string // what leads to all rows, of a table that has the first ones
	Short        string // of what the rows are, if not all was read that the page is about: More reads on
}

// tableOf is a table that has a row of each item of a list.
func tableOf[T any](none string, head []string, list []T, row func(*T) []cell) *table {
	t := &table{None: none}
	for i := range list {
		t.Rows = append(t.Rows, row(&list[i]))
	}
	for i, name := range head {
		t.Columns = append(t.Columns, column{Name: name, Number: len(list) > 0 && t.Rows[0][i].Number})
	}
	return t
}

// column is the head of a column.
type column struct {
	Name   string
	Number bool   // its cells are numbers, as that of the first row
	Href   string // sorts the table by it
	Sorted string // the table is by it: ascending or descending
}

// sorted sorts a table by the column that the address names, and lets columns be chosen: numbers and times from the
// highest one down at first. All its rows have to be there.
func (v *visit) sorted(t *table) *table {
	for i := range t.Columns {
		c, by := &t.Columns[i], v.query.Get("sort")
		if c.Name == "" {
			continue
		}
		next, down := c.Name, "-"+c.Name
		if c.Number || slices.ContainsFunc(t.Rows, func(row []cell) bool { return !row[i].Time.IsZero() }) {
			next = down
		}
		if by == down {
			c.Sorted, next = "descending", c.Name
		} else if by == c.Name {
			c.Sorted, next = "ascending", down
		}
		// From the first page on.
		c.Href = v.here("sort", next, "topics", "", "queues", "", "groups", "", "workers", "", "acts", "", "limits", "")
		if c.Sorted == "" {
			continue
		}
		slices.SortStableFunc(t.Rows, func(a, b []cell) int {
			if by == down {
				a, b = b, a
			}
			return cmp.Or(a[i].Time.Compare(b[i].Time), cmp.Compare(a[i].order, b[i].order), cmp.Compare(a[i].State+a[i].Text, b[i].State+b[i].Text))
		})
	}
	return t
}

// cell is a value: what it has is shown in the order of the fields.
type cell struct {
	State   string // a word that is coloured by what it means
	Text    string
	Href    string // where Text leads
	Time    time.Time
	Mono    bool    // Text is an identifier
	Number  bool    // Text is to the right
	order   float64 // of a number
	Meter   *meter
	Spark   *spark
	Pick    string // what stands for its row, in a table whose rows can be selected
	Actions []action

	Document *text
}

// meter is a part of a whole.
type meter struct{ Value, Max int64 }

// text is a long text: a payload, an error.
type text struct {
	Body   string
	Hidden bool // until somebody opens it
	Label  string
	Fold   *fold // of JSON
}

// action is a form with a button: a change that an operator may make.
type action struct {
	Do      string // the name of the action, as in changes
	Page    string // the page that it leads to instead
	Label   string
	Fields  []string // name, value, name, value
	Inputs  []input
	Confirm string // what it will do; empty: it is done at once
	Danger  bool
	Preview bool // it may be shown before it is done
}

// input is a field that the operator fills in.
type input struct {
	Name, Label, Type, Value, Hint string
	Options                        []string // to choose one of; none: free text
}

// filter is a form that narrows a page down; it is part of the address.
type filter struct {
	Fields []input
	Keep   []string // name, value, name, value
}

func words(s string) cell    { return cell{Text: s} }
func mono(s string) cell     { return cell{Text: s, Mono: true} }
func state(s string) cell    { return cell{State: s} }
func at(t time.Time) cell    { return cell{Time: t} }
func count(n int64) cell     { return cell{Text: grouped(n), Number: true, order: float64(n)} }
func link(s, to string) cell { return cell{Text: s, Href: to} }

// counted is a number of which there may be more.
func counted(n int64, more bool) cell {
	c := count(n)
	if more {
		c.Text += " or more"
	}
	return c
}

// age is how long something has waited; none is left empty.
func age(d time.Duration) cell {
	c := cell{Number: true, order: float64(d)}
	if d > 0 {
		c.Text = engine.Span(d)
	}
	return c
}

// facts are names and values, without those that are empty.
func facts(pairs ...any) (all []fact) {
	for i := 0; i+1 < len(pairs); i += 2 {
		one := fact{Name: pairs[i].(string)}
		switch value := pairs[i+1].(type) {
		case cell:
			one.Value = value
		case time.Time:
			one.Value = at(value)
		case time.Duration:
			one.Value = age(value)
		default:
			one.Value = words(fmt.Sprint(value))
		}
		if one.Value.Text != "" || one.Value.State != "" || !one.Value.Time.IsZero() || len(one.Value.Actions) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// grouped is a number with its thousands apart.
func grouped(n int64) string {
	digits := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return sign + digits
}

// plural is a number of things.
func plural(n int64, thing string) string { return grouped(n) + " " + engine.Plural(n, thing) }
