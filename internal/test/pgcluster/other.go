//go:build !linux && !darwin

// Package pgcluster starts a private, throw-away PostgreSQL server. Its guard
// is a Unix shell, so elsewhere it only says that it cannot.
package pgcluster

import (
	"context"
	"errors"
	"io"
)

// ErrUnsupported says that this system has no private clusters.
var ErrUnsupported = errors.New("pgcluster: only on Linux and macOS; set PAWL_TEST_POSTGRES to the URL of a server instead")

// VersionVariable is as on other systems.
const VersionVariable = "PAWL_TEST_POSTGRES_VERSION"

// Options are as on other systems.
type Options struct {
	Version  string
	Settings map[string]string
	Env      []string
	Parent   string
	Log      io.Writer
}

// A Cluster cannot exist here; the type keeps its callers compiling.
type Cluster struct{}

// Start fails with [ErrUnsupported].
func Start(context.Context, Options) (*Cluster, error) { return nil, ErrUnsupported }

// URL is empty.
func (*Cluster) URL() string { return "" }

// PID is 0.
func (*Cluster) PID() int { return 0 }

// Stop does nothing.
func (*Cluster) Stop() error { return nil }

// Kill fails with [ErrUnsupported].
func (*Cluster) Kill() error { return ErrUnsupported }

// Restart fails with [ErrUnsupported].
func (*Cluster) Restart(context.Context) error { return ErrUnsupported }

// Location fails with [ErrUnsupported].
func (*Cluster) Location(string) (string, error) { return "", ErrUnsupported }

// MoveWAL fails with [ErrUnsupported].
func (*Cluster) MoveWAL(context.Context, string) error { return ErrUnsupported }

// Follow fails with [ErrUnsupported].
func (*Cluster) Follow(context.Context, *Cluster, string) error { return ErrUnsupported }

// Shutdown fails with [ErrUnsupported].
func (*Cluster) Shutdown() error { return ErrUnsupported }

// Standby fails with [ErrUnsupported].
func (*Cluster) Standby(context.Context, string) (*Cluster, error) { return nil, ErrUnsupported }
