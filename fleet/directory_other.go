//go:build !unix

package fleet

import "os"

// identityOf: this system tells only whether two files are the same.
func identityOf(os.FileInfo) (id [2]uint64, ok bool) { return id, false }
