package replaytest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bravellian/pawl/sqlserver/internal/tdstest"
)

// sent is one statement of a batch: its text, and the values of its parameters.
type sent struct {
	text string
	args []any
}

// execute begins a statement of a batch.
const execute = "EXEC sys.sp_executesql "

// statements are those of a batch, in order.
func statements(r *tdstest.Request) (all []sent, err error) {
	for rest := r.SQL; ; {
		_, after, found := strings.Cut(rest, execute)
		if !found {
			return all, nil
		}
		var s sent
		if s.text, rest, err = literal(after); err != nil {
			return nil, err
		}
		if declared, ok := strings.CutPrefix(rest, ", N'"); ok {
			if _, rest, err = literal("N'" + declared); err != nil {
				return nil, err
			}
		}
		if s.args, rest, err = arguments(rest, r); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
}

// literal reads a text in quotes and returns what is behind it.
func literal(text string) (value, rest string, err error) {
	text, ok := strings.CutPrefix(text, "N'")
	if !ok {
		return "", "", errors.New("no literal")
	}
	var b strings.Builder
	for {
		part, after, found := strings.Cut(text, "'")
		if !found {
			return "", "", errors.New("a literal does not end")
		}
		b.WriteString(part)
		if !strings.HasPrefix(after, "'") {
			return b.String(), after, nil
		}
		b.WriteByte('\'')
		text = after[1:]
	}
}

// arguments reads the parameters that are passed to a statement, "@p3" or "@name = @p3".
func arguments(text string, r *tdstest.Request) (args []any, rest string, err error) {
	list, rest, _ := strings.Cut(text, ";")
	for item := range strings.SplitSeq(strings.TrimPrefix(list, ","), ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		if _, value, named := strings.Cut(item, "="); named {
			item = strings.TrimSpace(value)
		}
		n, err := strconv.Atoi(strings.TrimPrefix(item, "@p"))
		if err != nil || n < 1 || n > len(r.Params) {
			return nil, "", fmt.Errorf("%q is no parameter", item)
		}
		args = append(args, r.Params[n-1].Value)
	}
	return args, rest, nil
}
