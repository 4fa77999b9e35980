package ui

import "math"

// chart is bars side by side, drawn by the server.
type chart struct {
	Label         string
	Width, Height int
	Bars          []bar
	Legend        []legend
}

type bar struct {
	Class               string
	X, Y, Width, Height float64
	Title               string
}

type legend struct{ Class, Text string }

// series is one colour of a chart: a value for each step.
type series struct {
	Class, Name string
	Values      []int64
	Titles      []string
}

const (
	chartWidth  = 600
	chartHeight = 80
)

// bars draws series with as many steps each, the bars of a step side by side.
func bars(label string, all ...series) *chart {
	c := &chart{Label: label, Width: chartWidth, Height: chartHeight}
	var most int64 = 1
	for _, s := range all {
		for _, n := range s.Values {
			most = max(most, n)
		}
		c.Legend = append(c.Legend, legend{s.Class, s.Name})
	}
	for i, s := range all {
		step := chartWidth / float64(len(s.Values))
		width := step * 0.9 / float64(len(all))
		for k, n := range s.Values {
			if n <= 0 {
				continue
			}
			height := math.Max(1, float64(n)/float64(most)*chartHeight)
			c.Bars = append(c.Bars, bar{
				s.Class, round(float64(k)*step + float64(i)*width), round(chartHeight - height), round(width), round(height), s.Titles[k],
			})
		}
	}
	return c
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// part is a share of a whole.
type part struct {
	class, name string
	n           int64
}

// share draws parts of a whole as one bar.
func share(label string, parts ...part) *chart {
	c := &chart{Label: label, Width: chartWidth, Height: 16}
	var all int64
	for _, p := range parts {
		all += p.n
	}
	x := 0.0
	for _, p := range parts {
		width := float64(p.n) / float64(max(all, 1)) * chartWidth
		title := grouped(p.n) + " " + p.name
		if p.n > 0 {
			c.Bars = append(c.Bars, bar{p.class, round(x), 0, round(width), 16, title})
		}
		c.Legend = append(c.Legend, legend{p.class, title})
		x += width
	}
	return c
}
