package chart

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Series is a line of a diagram.
type Series struct {
	Name   string
	X, Y   []float64
	Dashed bool
	Color  int // of a few; series that belong together have the same
}

// Axis is one of the two axes of a diagram.
type Axis struct {
	Label string
	Log   bool                 // by powers of ten; values must be positive
	Text  func(float64) string // of a tick
}

// Diagram is what Lines draws.
type Diagram struct {
	Title, Subtitle string
	X, Y            Axis
	Series          []Series
}

// lineColors are colors that can be read on white and on black pages.
func lineColors() []string {
	return []string{colorMarked, "#d9730d", "#2e9e5b", "#a855c7", colorPlain}
}

// Sizes of a diagram in pixels.
const (
	plotLeft   = 70
	plotTop    = headHeight + 8
	plotWidth  = 440
	plotHeight = 260
	legendLeft = plotLeft + plotWidth + 14
	allWidth   = legendLeft + 210
	allHeight  = plotTop + plotHeight + 48
	linearStep = 5 // parts of an axis that is not logarithmic
)

// scale maps the values of an axis to [0, 1].
type scale struct {
	Axis
	low, high float64
}

func scaleOf(a Axis, series []Series, of func(Series) []float64) scale {
	s := scale{Axis: a, low: math.Inf(1), high: math.Inf(-1)}
	for _, one := range series {
		for _, v := range of(one) {
			s.low, s.high = min(s.low, v), max(s.high, v)
		}
	}
	switch {
	case a.Log:
		s.low, s.high = math.Pow(10, math.Floor(math.Log10(s.low)+1e-9)), math.Pow(10, math.Ceil(math.Log10(s.high)-1e-9))
	default:
		s.low = min(s.low, 0)
	}
	if s.low >= s.high {
		s.high = s.low + 1
	}
	return s
}

func (s scale) at(v float64) float64 {
	if s.Log {
		return math.Log10(v/s.low) / math.Log10(s.high/s.low)
	}
	return (v - s.low) / (s.high - s.low)
}

func (s scale) ticks() (at []float64) {
	if !s.Log {
		for i := range linearStep + 1 {
			at = append(at, s.low+(s.high-s.low)*float64(i)/linearStep)
		}
		return at
	}
	for v := s.low; v <= s.high*1.0001; v *= 10 {
		at = append(at, v)
	}
	return at
}

// Lines draws series as lines with dots, with a legend beside them.
func Lines(w io.Writer, d Diagram) error {
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="13">`+"\n", allWidth, allHeight, allWidth, allHeight)
	fmt.Fprintf(&out, "<title>%s</title>\n", escape(d.Title+", "+d.Subtitle))
	text(&out, margin, headHeight/4, "start", "bold", d.Title)
	text(&out, margin, headHeight*5/8, "start", "normal", d.Subtitle)
	x, y := scaleOf(d.X, d.Series, func(s Series) []float64 { return s.X }), scaleOf(d.Y, d.Series, func(s Series) []float64 { return s.Y })
	grid(&out, x, y)
	for i, s := range d.Series {
		s.draw(&out, x, y, plotTop+10+i*lineHeight)
	}
	out.WriteString("</svg>\n")
	_, err := io.WriteString(w, out.String())
	return err
}

func grid(out *strings.Builder, x, y scale) {
	line := func(x1, y1, x2, y2 int) {
		fmt.Fprintf(out, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-opacity="0.35"/>`+"\n", x1, y1, x2, y2, colorPlain)
	}
	for _, v := range x.ticks() {
		at := plotLeft + int(x.at(v)*plotWidth)
		line(at, plotTop, at, plotTop+plotHeight)
		text(out, at, plotTop+plotHeight+12, "middle", "normal", x.Text(v))
	}
	for _, v := range y.ticks() {
		at := plotTop + plotHeight - int(y.at(v)*plotHeight)
		line(plotLeft, at, plotLeft+plotWidth, at)
		text(out, plotLeft-8, at, "end", "normal", y.Text(v))
	}
	text(out, plotLeft+plotWidth/2, plotTop+plotHeight+34, "middle", "normal", x.Label)
	text(out, legendLeft, plotTop-14, "start", "bold", y.Label)
}

// draw writes a line and its entry in the legend.
func (s Series) draw(out *strings.Builder, x, y scale, legend int) {
	colors, dash := lineColors(), ""
	color := colors[s.Color%len(colors)]
	if s.Dashed {
		dash = ` stroke-dasharray="5 4"`
	}
	var points []string
	for i := range s.X {
		points = append(points, fmt.Sprintf("%.1f,%.1f", plotLeft+x.at(s.X[i])*plotWidth, plotTop+plotHeight-y.at(s.Y[i])*plotHeight))
	}
	fmt.Fprintf(out, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(points, " "), color, dash)
	if len(points) <= 20 {
		for _, p := range points {
			cx, cy, _ := strings.Cut(p, ",")
			fmt.Fprintf(out, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", cx, cy, color)
		}
	}
	fmt.Fprintf(out, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="2"%s/>`+"\n", legendLeft, legend, legendLeft+26, legend, color, dash)
	text(out, legendLeft+34, legend, "start", "normal", s.Name)
}
