// Package chart draws horizontal bars as SVG, as much of it as the benchmarks' results
// need.
package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Bar is a line of a chart.
type Bar struct {
	Label string
	Value float64
	Text  string // beside the bar: the value as readers get it
	Mark  bool   // drawn in the color that stands out
}

// Sizes in pixels.
const (
	labelWidth = 210
	barWidth   = 390
	textWidth  = 120
	lineHeight = 24
	barHeight  = 16
	headHeight = 52
	margin     = 10
	baseline   = 5 // below the middle of a line
)

// Colors that can be read on white and on black pages.
const (
	colorMarked = "#2f6fde"
	colorPlain  = "#9aa4b2"
	colorText   = "#6b7280"
)

// Write draws bars from the same zero, the longest over the whole width, under two lines
// of text. Values below zero count as zero.
func Write(w io.Writer, title, subtitle string, bars []Bar) error {
	var out strings.Builder
	width, height := labelWidth+barWidth+textWidth+2*margin, headHeight+len(bars)*lineHeight+margin
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="13">`+"\n", width, height, width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n", escape(title+", "+subtitle))
	text(&out, margin, headHeight/4, "start", "bold", title)
	text(&out, margin, headHeight*5/8, "start", "normal", subtitle)
	longest := 0.0
	for _, b := range bars {
		longest = max(longest, b.Value)
	}
	for i, b := range bars {
		b.draw(&out, headHeight+i*lineHeight, longest)
	}
	out.WriteString("</svg>\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// draw writes a label, a bar and its value, y from the top.
func (b Bar) draw(out *strings.Builder, y int, longest float64) {
	color, weight := colorPlain, "normal"
	if b.Mark {
		color, weight = colorMarked, "bold"
	}
	length := 0.0
	if longest > 0 {
		length = max(0, b.Value) / longest * barWidth
	}
	middle := y + barHeight/2
	text(out, margin+labelWidth-8, middle, "end", weight, b.Label)
	fmt.Fprintf(out, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", margin+labelWidth, y, length, barHeight, color)
	text(out, margin+labelWidth+int(length)+6, middle, "start", weight, b.Text)
}

// text writes a line whose middle is at y.
func text(out *strings.Builder, x, y int, anchor, weight, s string) {
	fmt.Fprintf(out, `<text x="%d" y="%d" text-anchor="%s" font-weight="%s" fill="%s">%s</text>`+"\n", x, y+baseline, anchor, weight, colorText, escape(s))
}

func escape(s string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(s)) // a Builder takes everything
	return out.String()
}
