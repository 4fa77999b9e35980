//go:build !unix

package anydriver

import "os"

// fileNumber returns "": this system does not identify open files.
func fileNumber(os.FileInfo) string { return "" }
