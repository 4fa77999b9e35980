//go:build !unix

package anydriver

import "os"

// fileNumber: this system does not tell files apart by what is known of an open one.
func fileNumber(os.FileInfo) string { return "" }
