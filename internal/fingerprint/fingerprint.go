// Package fingerprint turns the text of an error into what it has in common with others of its kind.
package fingerprint

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most is how many characters a fingerprint has at most.
const Most = 200

// maxRead is how many bytes of a text are read: as many as are kept of an error, so that the kept
// text has the fingerprint of the whole.
const maxRead = 2048

// Of returns text with what differs from one occurrence of an error to the next left out: "#" stands for
// numbers, times, ids, hex, addresses and paths, "…" for what stands in quotes or brackets. White space
// becomes one space. What follows a word such as status or code is kept, since 404 and 503 are different
// errors. The same text always has the same fingerprint. The text is read once.
func Of(text string) string {
	p := printer{cut: len(text) > maxRead-utf8.UTFMax}
	if len(text) > maxRead {
		text = text[:maxRead]
	}
	p.text, p.out = text, make([]byte, 0, len(text))
	p.read()
	if len(p.opened) > 0 && p.cut { // its end was cut off
		p.fold(0)
	}
	if !bytes.ContainsFunc(p.out, unicode.IsLetter) && len(p.out) > 0 && !p.flat { // all of it is in quotes or brackets
		p = printer{text: text, out: p.out[:0], flat: true}
		p.read()
	}
	return trim(string(p.out))
}

// trim returns s without marks around it, and no longer than Most.
func trim(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), ".,:;!- ")
	if len(s) <= Most { // bytes, so characters too
		return s
	}
	n := 0
	for i := range s {
		if n++; n > Most {
			return s[:i]
		}
	}
	return s
}

// printer reads a text and writes its fingerprint.
type printer struct {
	text   string
	at     int // what is read next
	out    []byte
	opened []opening
	word   word // that was read last
	flat   bool // quotes and brackets are characters like others
	cut    bool // there is more of the text than is read
}

// opening is a quote or bracket that is not closed yet.
type opening struct {
	closes rune
	at     int // where it stands in out
}

// closers has for each quote or bracket what closes it.
var closers = map[rune]rune{'(': ')', '[': ']', '{': '}', '<': '>', '"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’', '«': '»'}

// read reads the text token by token.
func (p *printer) read() {
	for p.at < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		switch {
		case r == utf8.RuneError && size == 1:
			p.at++
		case unicode.IsSpace(r) || unicode.IsControl(r):
			if len(p.out) > 0 && p.out[len(p.out)-1] != ' ' {
				p.out = append(p.out, ' ')
			}
			p.at += size
		case r == '\\' && p.inQuote(): // what is escaped closes nothing
			_, next := utf8.DecodeRuneInString(p.text[p.at+1:])
			p.at += 1 + next
		case p.close(r, size) || p.open(r, size):
			p.at += size
		default:
			p.token()
		}
	}
}

// isQuote reports whether r is a quote that closes what it opens.
func isQuote(r rune) bool { return r == '"' || r == '\'' || r == '`' }

// inWord reports whether a ' at the next position is an apostrophe.
func (p *printer) inWord(size int) bool {
	before, _ := utf8.DecodeLastRuneInString(p.text[:p.at])
	after, _ := utf8.DecodeRuneInString(p.text[p.at+size:])
	return isWord(before) && isWord(after)
}

// isWord reports whether r is part of a word or number.
func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// close folds what r closes, if it closes something.
func (p *printer) close(r rune, size int) bool {
	if p.flat || (r == '\'' || r == '’') && p.inWord(size) {
		return false
	}
	for i := len(p.opened) - 1; i >= 0; i-- {
		if p.opened[i].closes == r {
			p.fold(i)
			p.out = utf8.AppendRune(p.out, r)
			return true
		}
	}
	return false
}

// fold replaces what stands behind an opening.
func (p *printer) fold(i int) {
	_, size := utf8.DecodeRune(p.out[p.opened[i].at:])
	if end := p.opened[i].at + size; len(p.out) > end || isQuote(p.opened[i].closes) {
		p.out = append(p.out[:end], "…"...)
	}
	p.opened, p.word = p.opened[:i], plain
}

// maxOpen is how deep quotes and brackets nest: those that are deeper are read as others.
const maxOpen = 16

// open notes that r opens something, if it does.
func (p *printer) open(r rune, size int) bool {
	closes, ok := closers[r]
	if !ok || p.flat || len(p.opened) == maxOpen {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(p.text[:p.at])
	after, _ := utf8.DecodeRuneInString(p.text[p.at+size:])
	if (r == '\'' || r == '`') && isWord(before) || r == '<' && (unicode.IsSpace(after) || after == '=' || after == '-') || isQuote(r) && unicode.IsSpace(after) {
		return false
	}
	p.opened = append(p.opened, opening{closes, len(p.out)})
	p.out = utf8.AppendRune(p.out, r)
	return true
}
