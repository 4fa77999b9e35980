package ui

import (
	"net/url"
	"strconv"
	"time"

	"github.com/bravellian/pawl/internal/engine"
)

// everything is the limit of a change that is meant for all that its filter selects.
const everything = "all"

// whole reads a whole number of a form or query; 0 if it is not given.
func whole[N int | int64](values url.Values, name string) (N, error) {
	text, err := single(values, name)
	if text == "" || err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, strconv.IntSize)
	if err != nil {
		return 0, engine.Invalid(name, "no whole number")
	}
	return N(n), nil
}

// number reads a whole number that is at least 1; 0 if it is not given.
func number[N int | int64](values url.Values, name string) (N, error) {
	n, err := whole[N](values, name)
	if err == nil && n < 1 && values.Get(name) != "" {
		return 0, engine.Invalid(name, "no whole number of at least 1")
	}
	return n, err
}

// limit reads how many a change is for at most; 0 is all of them, which has to be asked for.
func limit(form url.Values) (int, error) {
	switch text, err := single(form, "limit"); {
	case err != nil:
		return 0, err
	case text == "":
		return 0, engine.Invalid("limit", "missing: how many at most, or %q", everything)
	case text == everything:
		return 0, nil
	}
	return number[int](form, "limit")
}

// single returns a value that may be given once.
func single(values url.Values, name string) (string, error) {
	if len(values[name]) > 1 {
		return "", engine.Invalid(name, "given twice")
	}
	return values.Get(name), nil
}

// dueIn is the time after a duration from now.
func dueIn(text string) (time.Time, error) {
	d, err := duration("in", text)
	return time.Now().Add(d), err
}

// duration reads a duration of the address; it is otherwise if that has none.
func (v *visit) duration(name string, otherwise time.Duration) (time.Duration, error) {
	text := v.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	return duration(name, text)
}

// duration reads a duration that is not negative.
func duration(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, engine.Invalid(field, "no duration, such as 90s, 10m or 24h")
	}
	return d, nil
}
