package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bravellian/pawl/internal/test/chart"
)

// TestSimulationPictures draws the pictures of docs/scale.md, as "make simulation" does. The
// simulations of a million stores take minutes.
func TestSimulationPictures(t *testing.T) {
	folder := os.Getenv("PAWL_PICTURES")
	if folder == "" {
		t.Skip("PAWL_PICTURES names no folder")
	}
	draw := func(name string, d chart.Diagram) {
		file, err := os.Create(filepath.Join(folder, "simulation-"+name+".svg"))
		if err == nil {
			err = chart.Lines(file, d)
		}
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("fair", func(t *testing.T) { drawFairness(t, draw) })
	t.Run("sick", func(t *testing.T) { drawSick(t, draw) })
	t.Run("hot", func(t *testing.T) { drawHot(t, draw) })
	t.Run("number", func(t *testing.T) { drawNumber(t, draw) })
}

// mixed is a fleet as large ones are: most stores have nothing to do.
func mixed(n int, files bool) simulation {
	return simulation{
		seed: 1, stores: n, files: files, hot: max(1, n/10_000), warm: max(10, n/1000), routed: 20, settled: true,
		warmUp: time.Minute, length: 2 * time.Minute,
	}
}

// numbered is a mixed fleet that runs as long as is needed and possible: cold stores of small
// fleets have few messages, and those of large ones are polled often.
func numbered(n int, files bool) simulation {
	sim := mixed(n, files)
	switch {
	case n <= 1000:
		sim.length = 6 * time.Minute
	case files && n > 100_000:
		sim.opts.PollFiles, sim.warmUp, sim.length = 20*time.Second, 21*time.Second, 6*time.Second
	case files && n == 100_000:
		sim.warmUp, sim.length = 5*time.Second, 10*time.Second
	case n > 100_000: // a round of polls takes almost four minutes
		sim.warmUp, sim.length = 230*time.Second, 30*time.Second
	}
	return sim
}

var classNames = map[class]string{cold: "cold", warm: "warm", hot: "hot", routed: "by the router"}

// curves collects quantiles of classes as lines.
type curves struct {
	names  []string
	series map[string]*chart.Series
}

func (c *curves) add(name string, color int, dashed bool, x, y float64) {
	if c.series == nil {
		c.series = map[string]*chart.Series{}
	}
	s := c.series[name]
	if s == nil {
		s = &chart.Series{Name: name, Color: color, Dashed: dashed}
		c.series[name], c.names = s, append(c.names, name)
	}
	s.X, s.Y = append(s.X, x), append(s.Y, y)
}

// Fewer messages have no quantile that is worth a point.
const (
	enoughForMedian = 20
	enoughForTail   = 100
)

// delays adds the delays of classes that had enough messages.
func (c *curves) delays(o outcome, x float64, of ...class) {
	for _, class := range of {
		d := &o.delays[class]
		if d.count() >= enoughForMedian {
			c.add(classNames[class]+", p50", int(class), true, x, seconds(d.quantile(.5)))
		}
		if d.count() >= enoughForTail {
			c.add(classNames[class]+", p99", int(class), false, x, seconds(d.quantile(.99)))
		}
	}
}

func (c *curves) all() (list []chart.Series) {
	for _, name := range c.names {
		list = append(list, *c.series[name])
	}
	return list
}

func seconds(d time.Duration) float64 { return max(d, 100*time.Microsecond).Seconds() }

func durationText(v float64) string {
	if v > 60 {
		return countText(v) + " s"
	}
	return time.Duration(v * float64(time.Second)).Round(time.Microsecond).String()
}

func countText(v float64) string {
	text := fmt.Sprintf("%.0f", v)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

func percentText(v float64) string { return fmt.Sprintf("%g %%", v) }

var (
	storesAxis = chart.Axis{Label: "stores", Log: true, Text: countText}
	delayAxis  = chart.Axis{Label: "delay to the handler", Log: true, Text: durationText}
)

func kindText(files bool) string {
	if files {
		return "files"
	}
	return "servers"
}

// drawNumber shows delays and polls by the number of stores.
func drawNumber(t *testing.T, draw func(string, chart.Diagram)) {
	var polls curves
	for _, files := range []bool{false, true} {
		var delays curves
		for _, n := range []int{100, 1000, 10_000, 100_000, 1_000_000} {
			o := numbered(n, files).run(t)
			o.print(t, fmt.Sprint(kindText(files), " ", n))
			delays.delays(o, float64(n), warm, cold, hot, routed)
			polls.add(kindText(files), len(polls.names)&1, false, float64(n), o.pollRate)
		}
		subtitle := "1 store of 10 000 is hot, 1 of 1 000 warm, the others are cold"
		if files {
			subtitle += "; PollFiles 2 s, with a million 20 s"
		}
		draw("delay-"+kindText(files), chart.Diagram{Title: "Delay by number of stores, " + kindText(files), Subtitle: subtitle, X: storesAxis, Y: delayAxis, Series: delays.all()})
	}
	for i := range polls.names {
		polls.series[polls.names[i]].Color = i
	}
	draw("polls", chart.Diagram{
		Title: "Polls a second by number of stores", Subtitle: "PollMax 30 s; PollFiles 2 s, and 20 s with a million files",
		X: storesAxis, Y: chart.Axis{Label: "polls a second", Log: true, Text: countText}, Series: polls.all(),
	})
}

// drawHot shows delays by how many stores are busy.
func drawHot(t *testing.T, draw func(string, chart.Diagram)) {
	var delays curves
	for _, percent := range []float64{0.1, 1, 3, 10, 30} {
		const n = 10_000
		sim := mixed(n, false)
		sim.hot, sim.warm = int(n*percent/100), 100
		sim.warmUp, sim.length = 10*time.Second, 20*time.Second
		o := sim.run(t)
		o.print(t, fmt.Sprint("hot ", percent))
		delays.delays(o, percent, warm, hot, routed)
	}
	draw("hot", chart.Diagram{
		Title: "Delay by the share of hot stores, servers", Subtitle: "10 000 stores, 100 of them warm; hot stores get 20 messages a second each",
		X: chart.Axis{Label: "hot stores", Log: true, Text: percentText}, Y: delayAxis, Series: delays.all(),
	})
}

// drawFairness shows which share of the turns the stores have that have fewest.
func drawFairness(t *testing.T, draw func(string, chart.Diagram)) {
	var lines curves
	for i, s := range []struct {
		name string
		Strategy
	}{{"RoundRobin", RoundRobin()}, {"DrainFirst", DrainFirst()}} {
		o := simulation{seed: 1, stores: 2000, files: true, hot: 1000, settled: true, warmUp: 20 * time.Second, length: 40 * time.Second, opts: Options{Strategy: s.Strategy, Handlers: 64, Active: 16}}.run(t)
		o.print(t, s.name)
		x, y := lorenz(o.turnsBySlot)
		for j := range x {
			lines.add(s.name, i, false, x[j], y[j])
		}
	}
	lines.add("all the same", 4, true, 0, 0)
	lines.add("all the same", 4, true, 100, 100)
	draw("fairness", chart.Diagram{
		Title: "Turns of busy stores", Subtitle: "1 000 hot stores, more than 16 places can serve, for 40 s",
		X: chart.Axis{Label: "stores, those with the fewest turns first", Text: percentText},
		Y: chart.Axis{Label: "their share of the turns", Text: percentText}, Series: lines.all(),
	})
}

// lorenz returns a Lorenz curve in percent.
func lorenz(counts []uint32) (x, y []float64) {
	counts = slices.Clone(counts)
	slices.Sort(counts)
	total, sum := 0.0, 0.0
	for _, n := range counts {
		total += float64(n)
	}
	x, y = []float64{0}, []float64{0}
	for i, n := range counts {
		if sum += float64(n); (i+1)%max(1, len(counts)/50) == 0 {
			x, y = append(x, 100*float64(i+1)/float64(len(counts))), append(y, 100*sum/max(total, 1))
		}
	}
	return x, y
}

// drawSick shows delays of healthy stores by how many are sick.
func drawSick(t *testing.T, draw func(string, chart.Diagram)) {
	var lines curves
	for i, when := range []struct {
		name  string
		after time.Duration
	}{{"first 2 minutes", 0}, {"6 minutes later", 6 * time.Minute}} {
		for _, percent := range []float64{0, 1, 5, 20} {
			sim := mixed(10_000, false)
			sim.sick, sim.warmUp, sim.length = int(100*percent), when.after, 2*time.Minute
			o := sim.run(t)
			o.print(t, fmt.Sprint("sick ", percent, " ", when.name))
			for j, class := range []class{warm, hot, routed} {
				lines.add(classNames[class]+", "+when.name, j, i == 0, percent, seconds(o.delays[class].quantile(.99)))
			}
		}
	}
	draw("sick", chart.Diagram{
		Title:    "Delay of healthy stores by the share of sick ones, servers, p99",
		Subtitle: "10 000 stores; a quarter each: polls hang, connections fail, work hangs, handlers hang",
		X:        chart.Axis{Label: "sick stores", Text: percentText}, Y: delayAxis, Series: lines.all(),
	})
}
