//go:build unix

package guide

import (
	"io"
	"net"
	"os/exec"
	"strconv"
	"testing"

	"github.com/bravellian/pawl/internal/test/apt"
)

// Need installs the Debian package of a program that a guide's reader has, if it is missing; it has the
// program's name unless another is given.
func Need(t *testing.T, program string, pkg ...string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if err := apt.Install(t.Context(), io.Discard, append(pkg, program)[0]); err != nil {
		t.Fatal(err)
	}
}

// FreePort returns a port of this machine that nobody listens at.
func FreePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
