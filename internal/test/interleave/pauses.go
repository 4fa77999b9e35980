package interleave

import (
	"fmt"
	"regexp"
	"strings"
)

// Inside of stored routines sessions are stopped by calls that are inserted into the routines'
// texts, in the test's schema, before each statement that names a table. Triggers could only stop
// at statements that write; most faults are between a read, or a lock, and the write that
// follows from it. The product's files stay as they are.

// pauseCall is a statement that stops the session. It must not change FOUND or ROW_COUNT, which
// PERFORM would: a condition changes neither.
const pauseCall = " IF %s.interleave_pause('%s') THEN END IF; "

// insertPauses returns the body of a PL/pgSQL function with a call before each statement that
// touches a table, and how many it inserted.
func insertPauses(body, schema, name string, tables *regexp.Regexp) (text string, n int) {
	var b strings.Builder
	at := 0
	for _, s := range statements(body) {
		if !tables.MatchString(s.head(body)) {
			continue
		}
		b.WriteString(body[at:s.from])
		n++
		fmt.Fprintf(&b, pauseCall, schema, fmt.Sprintf("%s/%d", name, n))
		at = s.from
	}
	b.WriteString(body[at:])
	return b.String(), n
}

// statement is a part of a body: a whole statement, or the part of IF, FOR and the like before
// the statements in it.
type statement struct{ from, to int }

func (s statement) head(body string) string { return body[s.from:s.to] }

// statements finds the statements in a body, those that a pause can stand before.
func statements(body string) (all []statement) {
	s := &scanner{text: body}
	s.until("BEGIN") // behind DECLARE
	for {
		s.space()
		from := s.at
		word := s.word()
		switch word {
		case "":
			return all
		case "BEGIN", "LOOP", "ELSE":
			continue
		case "DECLARE":
			s.until("BEGIN")
			continue
		case "EXCEPTION":
			continue // WHEN follows
		case "WHEN", "ELSIF":
			s.until("THEN")
			continue
		case "END":
			if !s.until(";") {
				return all
			}
			continue
		case "IF":
			s.until("THEN")
		case "CASE":
			s.until("WHEN")
			s.at -= len("WHEN") // as that of a handler
		case "FOR", "FOREACH", "WHILE":
			s.until("LOOP")
		default:
			s.until(";")
		}
		if word != "WHILE" {
			all = append(all, statement{from, s.at})
		}
	}
}

// scanner reads PL/pgSQL by words, without what is in quotes, comments or parentheses.
type scanner struct {
	text string
	at   int
}

// space skips spaces and comments.
func (s *scanner) space() {
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case strings.HasPrefix(rest, "--"):
			s.at += len(rest)
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				s.at += i - len(rest)
			}
		case strings.ContainsRune(" \n\t", rune(rest[0])):
			s.at++
		default:
			return
		}
	}
}

// word reads a word, or a character that is none.
func (s *scanner) word() string {
	from := s.at
	for s.at < len(s.text) && letter(s.text[s.at]) {
		s.at++
	}
	if s.at == from && s.at < len(s.text) {
		s.skip()
	}
	return s.text[from:s.at]
}

func letter(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// skip passes a character, or a string, an identifier in quotes or what is in parentheses.
func (s *scanner) skip() {
	switch c := s.text[s.at]; c {
	case '\'', '"':
		s.at++
		for s.at < len(s.text) && s.text[s.at] != c {
			s.at++
		}
		s.at++
	case '(':
		s.at++
		for s.space(); s.at < len(s.text) && s.text[s.at] != ')'; s.space() {
			s.word()
		}
		s.at++
	default:
		s.at++
	}
	s.at = min(s.at, len(s.text))
}

// until passes everything up to and with a word, except within CASE … END.
func (s *scanner) until(want string) bool {
	cases := 0
	for {
		s.space()
		word := s.word()
		switch {
		case word == "":
			return false
		case word == want && cases == 0:
			return true
		case word == "CASE":
			cases++
		case word == "END" && cases > 0:
			cases--
		}
	}
}
