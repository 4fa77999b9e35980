package docblocks

import "strings"

// Statements splits the text of a block into its SQL statements, at semicolons that are in no
// string, quoted name, comment or dollar quote. What has comments alone is none.
func Statements(text string) (all []string) {
	start, said := 0, false
	for i := 0; i < len(text); {
		rest := text[i:]
		n := 1
		switch {
		case strings.HasPrefix(rest, "--"):
			n = until(rest, 2, "\n")
		case strings.HasPrefix(rest, "/*"):
			n = until(rest, 2, "*/")
		case rest[0] == '\'' || rest[0] == '"':
			n, said = until(rest, 1, rest[:1]), true
		case rest[0] == '$' && dollar(rest) != "":
			n, said = until(rest, len(dollar(rest)), dollar(rest)), true
		case rest[0] == ';':
			if said {
				all = append(all, strings.TrimSpace(text[start:i]))
			}
			start, said = i+1, false
		case strings.TrimSpace(rest[:1]) != "":
			said = true
		}
		i += n
	}
	if said {
		all = append(all, strings.TrimSpace(text[start:]))
	}
	return all
}

// until returns how far a text goes that ends with end.
func until(text string, from int, end string) int {
	if at := strings.Index(text[from:], end); at >= 0 {
		return from + at + len(end)
	}
	return len(text)
}

// dollar returns the dollar quote that a text begins with: $$ or $body$.
func dollar(text string) string {
	end := strings.IndexByte(text[1:], '$')
	if end < 0 || strings.ContainsFunc(text[1:1+end], func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		return ""
	}
	return text[:end+2]
}
