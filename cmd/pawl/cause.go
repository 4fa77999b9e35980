package main

import (
	"errors"
	"strings"

	"github.com/bravellian/pawl/internal/engine"
)

// cause is the driver's own words in one line, without the class that explain
// puts better.
func cause(err error) string {
	var op *engine.Error
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	text := err.Error()
	for _, class := range []error{engine.ErrUnreachable, engine.ErrReadOnly} {
		text = strings.ReplaceAll(text, class.Error(), "")
	}
	return oneLine(text)
}
