// Command licences checks the licences of all modules that packages of this repository, their tests and tools depend
// on: each is in list.txt with what its licence is and the hash of its text, and is one that is allowed. A dependency
// that is new, or whose licence changed, fails until somebody has read it and runs this with -update.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const listFile = "tools/licences/list.txt"

func main() {
	update := flag.Bool("update", false, "write "+listFile)
	flag.Parse()
	if err := run(*update); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(update bool) error {
	modules, err := dependencies()
	if err != nil {
		return err
	}
	var lines []string
	var failures []error
	for _, m := range modules {
		found, err := licencesOf(m.path, os.DirFS(m.dir))
		failures = append(failures, err)
		lines = append(lines, found...)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // two versions of one module, of go.work and beside it
	if update {
		failures = append(failures, os.WriteFile(listFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(listFile)
	if err != nil {
		return err
	}
	return errors.Join(errors.Join(failures...), compare(lines, strings.Split(strings.TrimSpace(string(text)), "\n")))
}

// compare reports what of the lines is not in the list, and the other way around.
func compare(lines, list []string) error {
	var all []error
	for _, line := range lines {
		if !slices.Contains(list, line) {
			all = append(all, fmt.Errorf("new, or changed: %s", line))
		}
	}
	for _, line := range list {
		if !slices.Contains(lines, line) {
			all = append(all, fmt.Errorf("no longer used: %s", line))
		}
	}
	if len(all) > 0 {
		all = append(all, errors.New("read the licences, then run: go run ./tools/licences -update"))
	}
	return errors.Join(all...)
}

// module is one that something here depends on.
type module struct{ path, dir string }

// dependencies are the modules of all packages that are built or tested here: those of go.work, and of the modules
// beside it.
func dependencies() ([]module, error) {
	dirs := map[string]string{}
	for _, at := range []struct {
		dir, env, packages string
	}{{".", "GOWORK=", "work"}, {"internal/test/driverstest", "GOWORK=off", "./..."}, {"deploy/helm/test", "GOWORK=off", "./..."}} {
		cmd := exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", at.packages)
		cmd.Dir, cmd.Env, cmd.Stderr = at.dir, append(os.Environ(), at.env), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", at.dir, err)
		}
		for line := range strings.Lines(string(out)) {
			if path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(path, "github.com/bravellian/pawl") {
				dirs[path+"\t"+dir] = dir
			}
		}
	}
	var all []module
	for key, dir := range dirs {
		path, _, _ := strings.Cut(key, "\t")
		all = append(all, module{path, dir})
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.path+a.dir, b.path+b.dir) })
	return all, nil
}

// textHash is the hash of a licence's text: blanks and line ends do not count.
func textHash(text []byte) string {
	sum := sha256.Sum256(bytes.Join(bytes.Fields(text), []byte(" ")))
	return hex.EncodeToString(sum[:8])
}

// isLicence reports whether a file in a module's folder holds a licence.
func isLicence(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasSuffix(name, "-LOGO") { // of a picture that no program has
		return false
	}
	if ext := filepath.Ext(name); slices.Contains([]string{".GO", ".SH", ".PY", ".JSON", ".YML", ".YAML"}, ext) {
		return false
	}
	return strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "UNLICENSE")
}
