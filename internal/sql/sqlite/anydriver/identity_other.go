//go:build !unix

package anydriver

import "errors"

// watches: SQLite opens files so that nobody can delete or rename them meanwhile.
const watches = false

func identify(string) (fileID, error) { return fileID{}, errors.ErrUnsupported }
