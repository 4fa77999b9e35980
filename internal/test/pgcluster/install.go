//go:build linux || darwin

package pgcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/bravellian/pawl/internal/test/apt"
)

// binaries is the directory of initdb and postgres, of a major version or, if that
// is empty, of the one that is installed. Missing ones are installed where that is
// possible; tests never pass by because there was no server.
func binaries(ctx context.Context, log io.Writer, version string, a account) (string, error) {
	if version != "" {
		return packaged(ctx, log, version, a)
	}
	if dir := findBinaries(ctx); dir != "" {
		return dir, nil
	}
	err := apt.Install(ctx, log, "postgresql")
	if dir := findBinaries(ctx); dir != "" {
		return dir, nil
	}
	if err == nil {
		err = errors.New("the package postgresql brought none")
	}
	return "", fmt.Errorf("there is no PostgreSQL server here (no initdb and postgres where pg_config points, "+
		"in the usual places or in PATH); install one: %w", err)
}

// findBinaries looks where the distributions put the programs, most of them
// outside PATH. It returns "" if there are none.
func findBinaries(ctx context.Context) string {
	var dirs []string
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	dirs = append(dirs, versionedDirs()...)
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, dir := range dirs {
		// The client packages ship a pg_config, too, so the answer proves little.
		if executable(dir, "initdb") && executable(dir, "postgres") {
			return dir
		}
	}
	return ""
}

// versionedDirs are the directories of installed major versions, newest first.
func versionedDirs() []string {
	var dirs []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",                          // Debian
		"/usr/pgsql-*/bin",                                   // Red Hat
		"/opt/homebrew/opt/postgresql@*/bin",                 // macOS, Apple
		"/usr/local/opt/postgresql@*/bin",                    // macOS, Intel
		"/Applications/Postgres.app/Contents/Versions/*/bin", // macOS, the app
	} {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		dirs = append(dirs, found...)
	}
	slices.SortStableFunc(dirs, func(a, b string) int {
		return majorVersion(b) - majorVersion(a)
	})
	return dirs
}

// majorVersion reads the 15 in /usr/lib/postgresql/15/bin.
func majorVersion(dir string) int {
	v, _ := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(dir))
	return v
}

// executable tells whether there is a program of that name.
func executable(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// An account is the user the server runs as. The zero value is whoever we are.
type account struct {
	credential *syscall.Credential
	env        []string // beyond our own
}

// serverAccount is our own user unless that is root, as whom PostgreSQL refuses
// to run. The user postgres comes with Debian's package, which is installed for it.
func serverAccount(ctx context.Context, log io.Writer) (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if _, err := binaries(ctx, log, "", account{}); err != nil {
			return account{}, err
		}
		u, err = user.Lookup("postgres")
	}
	if err != nil {
		return account{}, fmt.Errorf("PostgreSQL does not run as root, and there is no other user to run it: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("uid of user postgres: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("gid of user postgres: %w", err)
	}
	return account{credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// makeDir makes an empty directory that belongs to the account. Root's TMPDIR
// is often closed to everybody else; then it is made in /tmp.
func (a account) makeDir(parent string) (string, error) {
	var firstErr error
	for _, parent := range []string{cmp.Or(parent, os.TempDir()), "/tmp"} {
		dir, err := a.makeDirIn(parent)
		if err == nil {
			return dir, nil
		}
		if firstErr == nil {
			firstErr = err
		}
	}
	return "", fmt.Errorf("no directory for the data: %w", firstErr)
}

// makeDirIn is makeDir in one place. Whether the account can get there is found
// out by going there: permissions are more than mode bits.
func (a account) makeDirIn(parent string) (dir string, err error) {
	if dir, err = os.MkdirTemp(parent, "pawl-pg-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(dir)
		}
	}()
	if a.credential != nil {
		if err := os.Chown(dir, int(a.credential.Uid), int(a.credential.Gid)); err != nil {
			return "", err
		}
	}
	return dir, a.command(dir, "true").Run()
}

// command prepares a program that runs as the account, in a session of its own
// so that a Ctrl-C meant for us does not reach it first.
func (a account) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(cleanEnviron(), a.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: a.credential}
	return cmd
}

// cleanEnviron is our environment without what would bend the server: PGDATA
// and its like, and locales that this machine may not have.
func cleanEnviron() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANG")
	})
	return append(env, "LC_ALL=C")
}
