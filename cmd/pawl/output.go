package main

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/bravellian/pawl/cmd/pawl/internal/terminal"
)

// printJSON prints a value as one line of JSON.
func (a *app) printJSON(v any) error {
	text, err := encodeJSON(v)
	if err != nil {
		return err
	}
	_, err = a.stdout.Write(text)
	return err
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return append(terminal.CleanJSON(line), '\n'), nil
}

// printAll prints a list as JSON, one line for each item.
func printAll[T, V any](a *app, list []T, view func(T) V) error {
	for _, item := range list {
		if err := a.printJSON(view(item)); err != nil {
			return err
		}
	}
	return nil
}

// stampKnown is stamp of a time, or nothing if it is zero.
func stampKnown(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return stamp(t)
}

// stamp is a time for people.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }
