// Package apt installs Debian packages, so that the tests run on a fresh
// machine without a page of instructions before them.
package apt

import (
	"bytes"
	"context"
	_ "embed" // for the script
	"fmt"
	"io"
	"os"
	"os/exec"
)

// The work is a shell script and not Go because the Makefile needs it too,
// before there is a C compiler for the race detector.
//
//go:embed install.sh
var script []byte

// Install makes sure that the packages are installed. It needs root, or a sudo
// that does not ask for a password; where it has neither, the error says what
// to install by hand. What the package manager prints goes to log.
func Install(ctx context.Context, log io.Writer, packages ...string) error {
	path, err := writeScript()
	if err != nil {
		return err
	}
	defer os.Remove(path)

	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "sh", append([]string{path}, packages...)...)
	cmd.Stdout = io.MultiWriter(log, &output)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("installing %v: %w\n%s", packages, err, lastBytes(output.Bytes(), 2048))
	}
	return nil
}

// writeScript puts the script into a file, because it starts itself again
// under sudo and therefore needs a name.
func writeScript() (string, error) {
	f, err := os.CreateTemp("", "pawl-apt-*.sh")
	if err != nil {
		return "", fmt.Errorf("installer script: %w", err)
	}
	_, err = f.Write(script)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("installer script: %w", err)
	}
	return f.Name(), nil
}

// lastBytes keeps the end of a long output: that is where the reason stands.
func lastBytes(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}

// Unpack puts a package's files under a directory without installing it: those of a server are wanted
// without the server.
func Unpack(ctx context.Context, dir, name string) error {
	const steps = `(apt-get download "$1" || { apt-get update && apt-get download "$1"; }) && dpkg-deb -x "$1"_*.deb .`
	cmd := exec.CommandContext(ctx, "sh", "-c", steps, "sh", name)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("unpacking %s: %w\n%s", name, err, lastBytes(out, 2048))
	}
	return nil
}
