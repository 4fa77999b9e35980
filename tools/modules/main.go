// Command modules runs go mod tidy in every module of the repository:
//
//	go run ./tools/modules                   tidy
//	go run ./tools/modules -check            write nothing; fail if a file would change
//	go run ./tools/modules -release v1.2.3   let the modules require each other at that version
//
// The modules require each other at a version that does not exist before it is
// released, and have no replace directives: "go install" refuses a main module that
// has one. go mod tidy does not read go.work. So it is run on a copy of go.mod in
// which the modules of the repository are replaced by their folders.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// alone are the modules that are not in go.work.
var alone = []string{"internal/test/driverstest", "deploy/helm/test"}

func main() {
	root := flag.String("root", ".", "the `directory` of go.work")
	check := flag.Bool("check", false, "write nothing; fail if a go.mod or go.sum would change")
	release := flag.String("release", "", "let the modules require each other at this `version`")
	flag.Parse()
	if err := run(*root, *check, *release); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
}

// module is a module of the repository.
type module struct {
	path string // import path
	dir  string // absolute
}

func run(root string, check bool, release string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	work, err := readWork(root)
	if err != nil {
		return err
	}
	version := work.version()
	if release != "" {
		version = release
		if err := work.release(version); err != nil {
			return err
		}
	}
	var problems []error
	modules := slices.Clone(work.modules)
	for _, dir := range alone {
		modules = append(modules, module{dir: filepath.Join(root, dir)})
	}
	for _, m := range modules {
		problems = append(problems, tidy(m, work.modules, version, check))
	}
	return errors.Join(problems...)
}

// work is what go.work says.
type work struct {
	root    string
	modules []module
	Use     []struct{ DiskPath string }
	Replace []struct {
		Old struct{ Path, Version string }
	}
}

func readWork(root string) (*work, error) {
	out, err := command(root, "work", "edit", "-json")
	if err != nil {
		return nil, err
	}
	w := &work{root: root}
	if err := json.Unmarshal(out, w); err != nil {
		return nil, err
	}
	for _, u := range w.Use {
		dir := filepath.Join(root, u.DiskPath)
		path, err := command(dir, "list", "-m")
		if err != nil {
			return nil, err
		}
		w.modules = append(w.modules, module{strings.TrimSpace(string(path)), dir})
	}
	return w, nil
}

// version returns the version at which the modules require each other.
func (w *work) version() string {
	for _, r := range w.Replace {
		return r.Old.Version
	}
	return "v0.0.0"
}

// release writes another version into go.work and every go.mod.
func (w *work) release(version string) error {
	for _, r := range w.Replace {
		for _, m := range w.modules {
			if m.path != r.Old.Path {
				continue
			}
			relative, err := filepath.Rel(w.root, m.dir)
			if err != nil {
				return err
			}
			if _, err := command(w.root, "work", "edit", "-dropreplace="+m.path+"@"+r.Old.Version, "-replace="+m.path+"@"+version+"=./"+filepath.ToSlash(relative)); err != nil {
				return err
			}
		}
	}
	for _, m := range w.modules {
		text, err := os.ReadFile(filepath.Join(m.dir, "go.mod"))
		if err != nil {
			return err
		}
		for _, r := range w.Replace {
			if bytes.Contains(text, []byte(r.Old.Path+" "+r.Old.Version)) {
				if _, err := command(m.dir, "mod", "edit", "-require="+r.Old.Path+"@"+version); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tidy tidies a module, others in the repository being as they are there.
func tidy(m module, others []module, version string, check bool) error {
	tmp, err := os.MkdirTemp("", "pawl-modules-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(m.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(tmp, name), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	mod := filepath.Join(tmp, "go.mod")
	if m.path != "" { // the one outside go.work has its own replacements
		if err := tidied(m, others, version, mod); err != nil {
			return err
		}
	} else if _, err := command(m.dir, "mod", "tidy", "-modfile="+mod); err != nil {
		return err
	}
	return keep(m.dir, tmp, check)
}

func tidied(m module, others []module, version, mod string) error {
	replace, drop := []string{"mod", "edit"}, []string{"mod", "edit"}
	for _, o := range others {
		replace, drop = append(replace, "-replace="+o.path+"="+o.dir), append(drop, "-dropreplace="+o.path)
	}
	if _, err := command(m.dir, append(replace, mod)...); err != nil {
		return err
	}
	if _, err := command(m.dir, "mod", "tidy", "-modfile="+mod); err != nil {
		return err
	}
	if _, err := command(m.dir, append(drop, mod)...); err != nil {
		return err
	}
	text, err := os.ReadFile(mod)
	if err != nil {
		return err
	}
	// What tidy makes up for a module that is replaced and was not required yet.
	text = bytes.ReplaceAll(text, []byte("v0.0.0-00010101000000-000000000000"), []byte(version))
	return os.WriteFile(mod, text, 0o600)
}

// keep takes over what tidy wrote, or complains about it.
func keep(dir, tmp string, check bool) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		want, err := os.ReadFile(filepath.Join(tmp, name))
		if err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		if got, err := os.ReadFile(path); err == nil && bytes.Equal(got, want) {
			continue
		}
		if check {
			return fmt.Errorf("%s is not tidy; run: make tidy", path)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// command runs a go command in dir, as if there were no go.work unless it edits that.
func command(dir string, args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Dir, c.Stderr = dir, os.Stderr
	if args[0] != "work" {
		c.Env = append(os.Environ(), "GOWORK=off")
	}
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s in %s: %w", strings.Join(args, " "), dir, err)
	}
	return out, nil
}
