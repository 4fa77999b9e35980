//go:build !linux && !darwin && !freebsd && !windows

package anydriver

import (
	"context"
	"errors"
)

func diskOf(string) (disk, error) { return disk{}, errors.ErrUnsupported }

// writable returns nil: another check tries to write.
func writable(string) error { return nil }

// readers returns "": this system does not show who holds locks.
func (x *examiner) readers(context.Context) string { return "" }
