package chart

import (
	"fmt"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	number := func(v float64) string { return fmt.Sprint(v) }
	d := Diagram{
		Title: "a < b", Subtitle: "c", X: Axis{Label: "stores", Log: true, Text: number}, Y: Axis{Label: "s", Text: number},
		Series: []Series{{Name: "warm & cold", X: []float64{100, 1000, 10000}, Y: []float64{0, 5, 10}}, {Name: "x", X: []float64{100}, Y: []float64{1}, Dashed: true, Color: 7}},
	}
	var out strings.Builder
	if err := Lines(&out, d); err != nil {
		t.Fatal(err)
	}
	widths(t, out.String()) // it is well-formed
	for _, want := range []string{`points="70.0,320.0 290.0,190.0 510.0,60.0"`, "warm &amp; cold", "a &lt; b", ">1000<", ">10<", "stroke-dasharray", lineColors()[2]} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in %s", want, out.String())
		}
	}
}
