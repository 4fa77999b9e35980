//go:build !linux

package filewatch

func arm(*Watch, string) bool { return false }

func disarm(*Watch) {}

func release(*Watch) {}
