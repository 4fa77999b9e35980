package main

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	repository = "../.."
	version    = "v0.1.0"
)

// D-682: on the day of the release what the pages say works outside the repository: each module is got,
// each program installed, and a program that uses all of them is built.
func TestRelease(t *testing.T) {
	r := release(t)
	user := r.module()
	commands := documented(t, "")
	for _, c := range commands {
		r.run(user, strings.Fields(c)...)
	}
	write(t, filepath.Join(user, "main.go"), read(t, "tools/modules/testdata/each/main.go"))
	r.run(user, "go", "build", "-o", r.bin, ".")
	if said := r.run(user, filepath.Join(r.bin, "pawl"), "version"); !strings.HasPrefix(said, "pawl "+version+" ") {
		t.Errorf("the command line says that it is %q", said)
	}
	for _, m := range released(t) {
		if !slices.ContainsFunc(commands, func(c string) bool { return strings.HasPrefix(strings.Fields(c)[2]+"@", m+"@") }) {
			t.Errorf("no page says how to get %s; they say %q", m, commands)
		}
	}

	user = r.module()
	for _, c := range documented(t, "README.md") {
		r.run(user, strings.Fields(c)...)
	}
	readme := read(t, "README.md")
	_, program, _ := strings.Cut(readme, "```go\n")
	program, _, _ = strings.Cut(program, "```")
	write(t, filepath.Join(user, "main.go"), program)
	if said := r.run(user, "go", "run", "."); said == "" || !strings.Contains(readme, "$ go run .\n"+said) {
		t.Errorf("the README's program prints %q", said)
	}

	user = r.module()
	for _, c := range documented(t, "docs/tutorial.md") {
		r.run(user, strings.Fields(c)...)
	}
	_, program, _ = strings.Cut(read(t, "docs/tutorial.md"), "```go\n")
	program, _, _ = strings.Cut(program, "```")
	write(t, filepath.Join(user, "main.go"), program)
	r.run(user, "go", "build", "-o", r.bin, ".")
}

// D-683: while there is no release, the pages where people begin say what works instead, and no longer.
func TestUntilThereIsARelease(t *testing.T) {
	waiting := unreleased(t)
	for _, page := range []string{"README.md", "docs/install.md", "docs/tutorial.md"} {
		if says := strings.Contains(strings.ToLower(read(t, page)), "until "+version[1:]+" is tagged:"); says != waiting {
			t.Errorf("%s says what to do until %s is tagged: %v; it is not released: %v", page, version, says, waiting)
		}
		if len(documented(t, page)) == 0 {
			t.Errorf("%s has no command that works afterwards", page)
		}
	}
}

// unreleased reports whether there is no release yet.
func unreleased(t *testing.T) bool {
	return strings.Contains(read(t, "CHANGELOG.md"), "\n## ["+version[1:]+"], not released yet\n")
}

// D-717: before the first release a program elsewhere uses every module from a clone, as install.md says.
func TestFromAClone(t *testing.T) {
	if !unreleased(t) {
		return
	}
	commands := regexp.MustCompile(`(?m)^\$ (for m in .* go mod edit .*)\n\$ (go mod tidy)$`).FindStringSubmatch(read(t, "docs/install.md"))
	if commands == nil {
		t.Fatal("docs/install.md does not say how")
	}
	clone, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(clone, filepath.Join(dir, "pawl")); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(dir, "shop")
	write(t, filepath.Join(user, "main.go"), read(t, "tools/modules/testdata/each/main.go"))
	p := &published{t: t, env: append(os.Environ(), "GOWORK=off")}
	p.run(user, "go", "mod", "init", "example.com/shop")
	for _, c := range commands[1:] {
		p.run(user, "sh", "-c", c)
	}
	p.run(user, "go", "list", "-deps", ".")
}

var told = regexp.MustCompile(`go (get|install|run) (github\.com/bravellian/pawl[a-z/]*(?:@[a-z0-9.]*[a-z0-9])?)`)

// documented returns the commands of a page, or of all, by which a module comes onto a machine. Those that
// run a program install it here.
func documented(t *testing.T, page string) (commands []string) {
	t.Helper()
	for name := range files(t, repository, true) {
		if !strings.HasSuffix(name, ".md") || page != "" && name != page {
			continue
		}
		for _, c := range told.FindAllStringSubmatch(read(t, name), -1) {
			if !strings.HasSuffix(c[2], "@main") { // what works until there is a release
				commands = append(commands, "go "+strings.Replace(c[1], "run", "install", 1)+" "+strings.Replace(c[2], "v1.2.3", version, 1))
			}
		}
	}
	slices.Sort(commands)
	return slices.Compact(commands)
}

// released returns the paths of the modules that docs/releasing.md has tagged.
func released(t *testing.T) (paths []string) {
	t.Helper()
	loop := regexp.MustCompile(`for module in (.*); do git tag`).FindStringSubmatch(read(t, "docs/releasing.md"))
	if loop == nil {
		t.Fatal("docs/releasing.md tags no modules")
	}
	for _, m := range strings.Fields(loop[1]) {
		paths = append(paths, strings.TrimSuffix("github.com/bravellian/pawl/"+strings.Trim(m, `"`), "/"))
	}
	return paths
}

// published is an environment in which the go command asks a proxy that has the modules as they are on
// the day of the release, and knows nothing of the repository.
type published struct {
	t   *testing.T
	bin string
	env []string
}

// module makes an empty module of a user.
func (p *published) module() string {
	dir := p.t.TempDir()
	p.run(dir, "go", "mod", "init", "example.com/shop")
	return dir
}

func release(t *testing.T) *published {
	t.Helper()
	mods, proxy, cache := t.TempDir(), t.TempDir(), t.TempDir()
	for name := range files(t, repository, true) {
		if base := filepath.Base(name); base == "go.mod" || base == "go.work" {
			write(t, filepath.Join(mods, name), read(t, name))
		}
	}
	w, err := readWork(mods)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.release(version); err != nil {
		t.Fatal(err)
	}
	for _, m := range w.modules {
		if slices.Contains(released(t), m.path) {
			publish(t, m, filepath.Join(proxy, m.path, "@v"), strings.TrimPrefix(m.dir, mods))
		}
	}
	shared := link(t, cache)
	bin := t.TempDir()
	return &published{t, bin, append(os.Environ(),
		"GOWORK=off", "GOSUMDB=off", "GONOPROXY=none", "GOBIN="+bin, "GOMODCACHE="+cache,
		"GOPROXY=file://"+proxy+",file://"+shared+"/cache/download,"+goEnv(t, "GOPROXY"),
		// With -trimpath what is compiled is found again, wherever the cache of modules is. It is compiled
		// for this test alone, most of it SQLite: quickly rather than well.
		"GOFLAGS=-trimpath -modcacherw -ldflags=-w '-gcflags=modernc.org/...=-N -l -dwarf=false' '-gcflags=github.com/...=-N -l -dwarf=false'",
	)}
}

// publish writes what a proxy has of a module: its files, with the go.mod of the release.
func publish(t *testing.T, m module, dir, folder string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(m.dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "list"), version+"\n")
	write(t, filepath.Join(dir, version+".info"), `{"Version": "`+version+`"}`)
	write(t, filepath.Join(dir, version+".mod"), string(mod))
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(archive)
	for name := range files(t, filepath.Join(repository, folder), false) {
		text := string(mod)
		if name != "go.mod" {
			text = read(t, filepath.Join(folder, name))
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.path + "@" + version + "/" + filepath.ToSlash(name)})
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
}

// files iterates over the files below a folder that are, or may be, of the repository; without those of other modules if not all.
func files(t *testing.T, root string, all bool) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if e.IsDir() && name != "." {
				_, err := os.Stat(filepath.Join(path, "go.mod"))
				if strings.HasPrefix(e.Name(), ".") || slices.Contains([]string{"site/public", "dist", "build", "bin"}, filepath.ToSlash(name)) || !all && err == nil {
					return filepath.SkipDir
				}
			}
			if e.Type().IsRegular() && !yield(name) {
				return filepath.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// link makes a cache of modules that has, by links, those that this repository depends on as they are in the
// usual one, which is to know nothing of a release that is not there. It returns the usual one.
func link(t *testing.T, cache string) string {
	t.Helper()
	shared := goEnv(t, "GOMODCACHE")
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "all")
	list.Dir = repository
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range strings.Fields(string(out)) {
		name, found := strings.CutPrefix(dir, shared+string(filepath.Separator))
		if !found { // of this repository
			continue
		}
		path, _, _ := strings.Cut(name, "@")
		for _, n := range []string{name, filepath.Join("cache/download", path, "@v")} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(cache, n)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(shared, n), filepath.Join(cache, n)); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
		}
	}
	return shared
}

// run runs a command in that environment and returns what it prints.
func (p *published) run(dir string, command ...string) string {
	p.t.Helper()
	c := exec.CommandContext(p.t.Context(), command[0], command[1:]...)
	var errors strings.Builder
	c.Dir, c.Env, c.Stderr = dir, p.env, &errors
	out, err := c.Output()
	if err != nil {
		p.t.Fatalf("%q: %v\n%s", command, err, errors.String())
	}
	return string(out)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
