package terminal

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Table prints rows with aligned columns.
type Table struct {
	rows [][]string
}

// Row adds a row; its cells are cleaned.
func (t *Table) Row(cells ...string) {
	for i, c := range cells {
		cells[i] = Clean(c)
	}
	t.rows = append(t.rows, cells)
}

// Write prints the table. Lines are cut at width; 0 means no limit.
func (t *Table) Write(w io.Writer, width int) error {
	widths := t.widths()
	var out strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		out.WriteString(Cut(strings.TrimRight(line.String(), " "), width))
		out.WriteByte('\n')
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// Cut shortens s to width characters, the last of which then is "…".
func Cut(s string, width int) string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return s
	}
	runes := []rune(s)
	return string(runes[:width-1]) + "…"
}
