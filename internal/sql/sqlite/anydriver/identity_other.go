//go:build !unix

package anydriver

import "errors"

// watches is false: on this system open files cannot be deleted or renamed.
const watches = false

func identify(string) (fileID, error) { return fileID{}, errors.ErrUnsupported }
