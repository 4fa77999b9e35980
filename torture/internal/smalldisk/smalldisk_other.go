//go:build !linux

// Package smalldisk mounts file systems in memory that faults may fill: on Linux only.
package smalldisk

import "errors"

// ErrUnsupported is returned by Mount.
var ErrUnsupported = errors.New("small disks are mounted on Linux only")

// Disk cannot exist here.
type Disk struct{}

// Mount fails with ErrUnsupported.
func Mount(int64) (*Disk, error) { return nil, ErrUnsupported }

// Dir is empty.
func (*Disk) Dir() string { return "" }

// Unmount does nothing.
func (*Disk) Unmount() error { return nil }
