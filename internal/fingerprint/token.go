package fingerprint

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is what the words before a token say of it.
type word int

const (
	plain  word = iota
	status      // a number that follows names the error
	lookup      // a host follows
	file        // a path follows, if the token ends with a colon
)

// words has the words that say something of what follows them.
var words = map[string]word{
	"status": status, "code": status, "statuscode": status, "status_code": status, "http": status, "https": status, "sqlstate": status,
	"errno": status, "exit": status, "signal": status, "returned": status, "responded": status, "response": status,
	"lookup": lookup, "host": lookup, "open": file, "stat": file, "lstat": file, "mkdir": file, "remove": file, "unlink": file, "unlinkat": file, "fork/exec": file,
}

// separators end a token.
const separators = "()[]{}<>\"'`“”‘’«»=,;|"

// token reads a token, or a character that separates tokens.
func (p *printer) token() {
	end := strings.IndexFunc(p.text[p.at:], func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError || strings.ContainsRune(separators, r) || r == '\\' && p.inQuote()
	})
	if end < 0 {
		end = len(p.text) - p.at
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(p.text[p.at:])
		p.add(p.text[p.at : p.at+end])
		p.at += end
		return
	}
	if scheme := strings.Index(p.text[p.at:p.at+end], "://"); scheme > 0 { // up to a space or quote: a query has separators
		end = strings.IndexFunc(p.text[p.at:], func(r rune) bool {
			return unicode.IsSpace(r) || r == utf8.RuneError || strings.ContainsRune("\"'`<>)]}”»", r)
		})
		if end < 0 {
			end = len(p.text) - p.at
		}
	}
	t := p.text[p.at : p.at+end]
	p.at += end
	body := strings.TrimRight(t, ".:!?-")
	p.classify(body, t[len(body):])
}

// classify writes a token, without the marks behind it.
func (p *printer) classify(t, marks string) {
	before := p.word
	p.word = words[strings.ToLower(t)]
	if strings.HasPrefix(t, "HTTP/") {
		p.word = status
	}
	switch number := isNumber(t); {
	case number && before == status && len(t) <= 3 || before == status && isState(t):
		p.out = append(p.out, t...)
	case isLongID(t) || isPlace(t) || before == lookup && (strings.ContainsRune(t, '.') || strings.HasPrefix(p.text[p.at:], " on ")) || before == file && strings.HasPrefix(marks, ":"):
		p.add("#")
	default:
		if before == status && !strings.ContainsFunc(t, unicode.IsLetter) {
			p.word = status // "status - 503"
		}
		p.parts(t)
	}
	p.add(marks)
}

// isNumber reports whether t consists of digits.
func isNumber(t string) bool { return t != "" && strings.Trim(t, "0123456789") == "" }

// isState reports whether t is an SQLSTATE.
func isState(t string) bool {
	return len(t) == 5 && isHigh(t) && strings.ContainsAny(t, "0123456789")
}

// isHigh reports whether t consists of digits and capital letters.
func isHigh(t string) bool { return strings.Trim(t, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" }

// inQuote reports whether a quote is open.
func (p *printer) inQuote() bool {
	return len(p.opened) > 0 && isQuote(p.opened[len(p.opened)-1].closes)
}

// isPlace reports whether t is a URL, an address of mail, a host with a port, or a path.
func isPlace(t string) bool {
	if strings.Contains(t, "://") || strings.Contains(t, `:\`) || strings.HasPrefix(t, `\\`) {
		return true
	}
	if at := strings.IndexByte(t, '@'); at > 0 && at < len(t)-1 {
		return true
	}
	if strings.HasPrefix(t, "/") && len(t) > 1 || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "../") || strings.HasPrefix(t, "~/") || strings.Count(t, "/") >= 2 {
		return true
	}
	colon := strings.LastIndexByte(t, ':')
	if colon > 0 && isNumber(t[colon+1:]) { // host:port, but not file.go:12
		host := t[:colon]
		return host == "localhost" || strings.ContainsRune(host, '.') && !strings.HasSuffix(host, ".go") && !strings.ContainsAny(host, ":/_") || strings.Contains(host, "::")
	}
	if label := t[strings.LastIndexByte(t, '.')+1:]; len(label) < len(t) && slices.Contains(domains, label) {
		return true
	}
	t, _, _ = strings.Cut(t, "%") // of a zone
	return strings.Contains(t, "::") && strings.Trim(t, "0123456789abcdefABCDEF:.") == ""
}

// domains are ends of names of hosts: one that has no port looks like any other name with dots.
var domains = []string{"cloud", "co", "com", "corp", "de", "dev", "edu", "eu", "example", "fr", "gov", "internal", "io", "lan", "local", "net", "org", "uk"}

// parts writes a token that is no number and no place, part by part.
func (p *printer) parts(t string) {
	for t != "" {
		end := strings.IndexFunc(t, func(r rune) bool { return !isWord(r) })
		switch {
		case end < 0:
			end = len(t)
		case end == 0:
			_, end = utf8.DecodeRuneInString(t)
			p.add(t[:end])
			t = t[end:]
			continue
		}
		switch part := t[:end]; {
		case !strings.ContainsAny(part, "0123456789") && (len(part) < 12 || strings.Trim(part, "0123456789abcdef") != ""):
			p.out = append(p.out, part...)
		case isDigit(part[0]) || isID(part):
			p.add("#")
		default:
			p.digits(part)
		}
		t = t[end:]
	}
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isID reports whether a part that contains a digit, or is long, looks like an id: hex, or letters
// and digits in turns.
func isID(part string) bool {
	if len(part) >= 6 && strings.Trim(part, "0123456789abcdef") == "" || len(part) >= 10 && isHigh(part) || len(part) >= 6 && strings.Trim(part, "0123456789ABCDEF") == "" {
		return true
	}
	turns := 0
	for i := 1; i < len(part); i++ {
		if isDigit(part[i]) != isDigit(part[i-1]) {
			turns++
		}
	}
	return len(part) >= 8 && turns >= 2 || len(part) >= 16
}

// isLongID reports whether t is an id of many parts: at least half of it digits.
func isLongID(t string) bool {
	digits := 0
	for _, r := range t {
		if '0' <= r && r <= '9' {
			digits++
		} else if r != '-' && r != '_' && !isWord(r) {
			return false
		}
	}
	return len(t) >= 16 && digits*2 >= len(t)
}

// digits writes a part of a name, with # for its numbers: worker12, utf8.
func (p *printer) digits(part string) {
	for i := 0; i < len(part); i++ {
		if !isDigit(part[i]) {
			p.out = append(p.out, part[i])
		} else if i == 0 || !isDigit(part[i-1]) {
			p.out = append(p.out, '#')
		}
	}
}

// add writes a mark, or # for what was left out. Several # of one value become one: a time, an
// address, a decimal number.
func (p *printer) add(s string) {
	if s != "#" {
		p.out = append(p.out, s...)
		return
	}
	if host, ok := bytes.CutSuffix(p.out, []byte("[…]:")); ok { // [::1]:5432
		p.out = host
	}
	rest := strings.TrimRight(string(p.out[max(0, len(p.out)-8):]), "-.,:/_+x%")
	if len(rest) > 0 && rest[len(rest)-1] == '#' && len(p.out) > 0 && p.out[len(p.out)-1] != ' ' {
		p.out = p.out[:len(p.out)-(min(8, len(p.out))-len(rest))]
		return
	}
	if n := len(p.out); n > 0 && (p.out[n-1] == '-' || p.out[n-1] == '+') && (n == 1 || p.out[n-2] == ' ') { // a sign
		p.out = p.out[:n-1]
	}
	p.out = append(p.out, '#')
}
