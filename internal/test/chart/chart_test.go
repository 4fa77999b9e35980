package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var out strings.Builder
	bars := []Bar{{"pawl", 200, "200", true}, {"a <b> & c", 50, "50", false}, {"below zero", -1, "-1", false}}
	if err := Write(&out, `A & "B"`, "more", bars); err != nil {
		t.Fatal(err)
	}
	widths := widths(t, out.String())
	if len(widths) != 3 || widths[0] != "390.0" || widths[1] != "97.5" || widths[2] != "0.0" {
		t.Errorf("bars are %v wide", widths)
	}
	if !strings.Contains(out.String(), "a &lt;b&gt; &amp; c") {
		t.Error("a label is not escaped")
	}
}

// widths reads the widths of all bars from well-formed XML.
func widths(t *testing.T, svg string) (all []string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "rect" {
			continue
		}
		for _, a := range e.Attr {
			if a.Name.Local == "width" {
				all = append(all, a.Value)
			}
		}
	}
}

func TestWriteNothing(t *testing.T) {
	var out strings.Builder
	if err := Write(&out, "nothing", "", []Bar{{Label: "zero"}}); err != nil {
		t.Fatal(err)
	}
	if w := widths(t, out.String()); len(w) != 1 || w[0] != "0.0" {
		t.Errorf("bars are %v wide", w)
	}
}
