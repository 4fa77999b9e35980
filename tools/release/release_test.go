package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const repository = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// D-235: every system that is checked is built, with completions, pages and the licence
func TestConfigHasWhatIsChecked(t *testing.T) {
	config := read(t, ".goreleaser.yaml")
	want := []string{
		"\n    goos: [linux, darwin, windows]\n", "\n    goarch: [amd64, arm64]\n", "\n  - formats: [" + strings.Join(formats(), ", ") + "]\n",
		"src: LICENSE", "src: NOTICE", "build/completions/*", "build/man/*.1", "build/man-gz/*.1.gz", "license: Apache-2.0",
		"build/completions/pawl.bash", "build/completions/_pawl", "build/completions/pawl.fish", "env: [CGO_ENABLED=0, GOWORK=off]",
	}
	for _, w := range want {
		if !strings.Contains(config, w) {
			t.Errorf(".goreleaser.yaml has no %q", w)
		}
	}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, goarch := range []string{"amd64", "arm64"} {
			if !slices.Contains(systems(), system{goos, goarch}) {
				t.Errorf("%s/%s is not checked", goos, goarch)
			}
		}
	}
}

// D-235
func TestCompletionsAndPagesAreGenerated(t *testing.T) {
	script := read(t, "tools/release/generate.sh")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if !strings.Contains(script, "pawl completion "+shell+" >") {
			t.Errorf("no completion for %s", shell)
		}
	}
	if !strings.Contains(script, "build/bin/pawl man build/man\n") { // one of each command: TestManPages of cmd/pawl
		t.Error("no pages")
	}
}

// D-237: what checks a release builds with its flags
func TestFlagsAreThoseOfTheConfig(t *testing.T) {
	flags := buildFlags("{{ .Version }}", "{{ .FullCommit }}")
	for file, commit := range map[string]string{".goreleaser.yaml": "", "tools/release/generate.sh": "$1 $2"} {
		text := read(t, file)
		for i, f := range flags {
			if commit != "" {
				f = strings.NewReplacer("v{{ .Version }}", "$1", "{{ .FullCommit }}", "$2").Replace(f)
			}
			if i != 3 && !strings.Contains(text, f) { // 3 is -ldflags itself
				t.Errorf("%s has no %s", file, f)
			}
		}
	}
}

// D-455: a release is built with the versions of cmd/pawl's own go.mod, as go install does, not with those of the
// workspace, and with the other modules as they are in the repository.
func TestReleaseIsBuiltWithoutTheWorkspace(t *testing.T) {
	mod := filepath.Join(t.TempDir(), "pawl.mod")
	script := exec.CommandContext(t.Context(), "sh", "tools/release/module.sh", mod)
	script.Dir = repository
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-modfile="+mod, "-mod=readonly", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}} {{with .Replace}}{{.Path}}{{end}}{{end}}", ".")
	list.Dir = filepath.Join(repository, "cmd/pawl")
	list.Env = append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	required, linked := read(t, "cmd/pawl/go.mod"), 0
	for _, line := range strings.Split(string(out), "\n") {
		path, rest, _ := strings.Cut(line, " ")
		version, folder, _ := strings.Cut(rest, " ")
		own := strings.HasPrefix(path, "github.com/bravellian/pawl")
		switch {
		case version == "": // the standard library, and the program itself
		case !strings.Contains(required, path+" "+version):
			t.Errorf("%s is built in at %s, which cmd/pawl/go.mod does not require", path, version)
		case own != strings.HasPrefix(folder, "../.."):
			t.Errorf("%s comes from %q", path, folder)
		default:
			linked++
		}
	}
	if linked < 100 {
		t.Errorf("only %d packages", linked)
	}
	for _, file := range []string{"tools/release/generate.sh", "deploy/homebrew/pawl.rb.in"} {
		if text := read(t, file); !strings.Contains(text, "GOWORK") || !strings.Contains(text, "module.sh") || !strings.Contains(text, "-modfile=../../build/pawl.mod") {
			t.Errorf("%s builds with the workspace", file)
		}
	}
}

// D-237: every tool and action has one version, and workflows call what people call
func TestVersionsArePinned(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, tool := range []string{"goreleaser/goreleaser/v2", "cyclonedx-gomod/cmd/cyclonedx-gomod", "golangci-lint/v2/cmd/golangci-lint", "golang.org/x/vuln/cmd/govulncheck"} {
		if n := len(regexp.MustCompile(regexp.QuoteMeta(tool)+`@v[0-9]+\.[0-9]+\.[0-9]+\b`).FindAllString(makefile, -1)); n != 1 {
			t.Errorf("the Makefile has %d versions of %s", n, tool)
		}
	}
	workflows, err := filepath.Glob(filepath.Join(repository, ".github/workflows/*.yml"))
	if err != nil || len(workflows) < 3 {
		t.Fatalf("%d workflows, %v", len(workflows), err)
	}
	versions := map[string]string{}
	for _, name := range workflows {
		checkWorkflow(t, name, makefile, versions)
	}
}

var (
	uses   = regexp.MustCompile(`uses: ([^@\s]+)@(\S+ # v\S+)`)
	pinned = regexp.MustCompile(`^[0-9a-f]{40} # v[0-9.]+$`)
	makes  = regexp.MustCompile(`run: make ([a-z-]+)`)
)

func checkWorkflow(t *testing.T, name, makefile string, versions map[string]string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := uses.FindAllStringSubmatch(string(text), -1)
	if len(found) != strings.Count(string(text), "uses:") {
		t.Errorf("%s has an action without a version", name)
	}
	for _, u := range found {
		if old := versions[u[1]]; !pinned.MatchString(u[2]) || old != "" && old != u[2] {
			t.Errorf("%s has %s at %s, elsewhere %s", name, u[1], u[2], old)
		}
		versions[u[1]] = u[2]
	}
	targets := makes.FindAllStringSubmatch(string(text), -1)
	if len(targets) == 0 {
		t.Errorf("%s calls no make target", name)
	}
	for _, m := range targets {
		if !strings.Contains(makefile, "\n"+m[1]+":") {
			t.Errorf("%s calls make %s, which there is not", name, m[1])
		}
	}
}

// D-308: a workflow reads, unless a job says what it writes and why; it keeps no token on disk, and runs nothing of a
// pull request with the rights of the repository.
func TestWorkflowsMayReadAlone(t *testing.T) {
	workflows, err := filepath.Glob(filepath.Join(repository, ".github/workflows/*.yml"))
	if err != nil || len(workflows) < 4 {
		t.Fatalf("%d workflows, %v", len(workflows), err)
	}
	for _, name := range workflows {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range permissionFaults(string(text)) {
			t.Errorf("%s: %s", filepath.Base(name), what)
		}
	}
	const good = "permissions:\n  contents: read\n\njobs:\n"
	for what, text := range map[string]string{
		"no permissions": "jobs:\n", "all may be written": "permissions: write-all\n\njobs:\n", "a default that writes": strings.Replace(good, "read", "write", 1),
		"a job that does not say why": good + "    permissions:\n      contents: write\n", "rights for pull requests": "on:\n  pull_request_target:\n" + good,
		"a token on disk": good + "      - uses: actions/checkout@x\n", "text of others in a command": good + "      - run: echo ${{ github.event.issue.title }}\n",
	} {
		if len(permissionFaults(text)) == 0 {
			t.Errorf("%s: nothing is said", what)
		}
	}
	if faults := permissionFaults(good); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

var (
	writes   = regexp.MustCompile(`(?m)^ +[a-z-]+: write( # .+| *)$`)
	inserted = regexp.MustCompile(`(?m)run:.*\$\{\{ *(github\.(event|head_ref|actor)|inputs)`)
)

// permissionFaults are what is wrong with what a workflow may.
func permissionFaults(text string) (all []string) {
	if !strings.Contains(text, "\npermissions:\n  contents: read\n\n") && !strings.HasPrefix(text, "permissions:\n  contents: read\n\n") {
		all = append(all, "by default it may do more than read")
	}
	reasons := 0 // one for a group of them
	for _, m := range writes.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "#") {
			reasons++
		}
	}
	if n := len(writes.FindAllString(text, -1)); n > 0 && reasons == 0 || strings.Contains(text, "write-all") {
		all = append(all, "it does not say why it writes")
	}
	if strings.Contains(text, "pull_request_target") || strings.Contains(text, "workflow_run") {
		all = append(all, "it runs pull requests with the repository's rights")
	}
	if strings.Count(text, "actions/checkout@") > strings.Count(text, "persist-credentials: false") {
		all = append(all, "a checkout keeps its token")
	}
	if inserted.MatchString(text) {
		all = append(all, "what somebody wrote becomes a command")
	}
	return all
}

// D-235
func TestMissingFilesAreNoticed(t *testing.T) {
	pages := []string{"pawl.1", "pawl-ls.1"}
	for _, lost := range []string{"LICENSE", "completions/_pawl", "man/pawl-ls.1", "pawl"} {
		want := inArchive(system{"linux", "amd64"}, pages)
		got := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return s == lost })
		if err := missing("x", want, got); err == nil || !strings.Contains(err.Error(), lost) {
			t.Errorf("without %s: %v", lost, err)
		}
		if err := missing("x", want, want); err != nil {
			t.Error(err)
		}
	}
	if got := inArchive(system{"windows", "arm64"}, nil); !slices.Contains(got, "pawl.exe") {
		t.Errorf("for Windows: %q", got)
	}
	for _, format := range formats() {
		got := inPackage(format, pages)
		for _, want := range []string{"usr/bin/pawl", "usr/share/man/man1/pawl-ls.1.gz", "usr/share/doc/pawl/copyright"} {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q", format, got)
			}
		}
	}
}

// D-235
func TestLostSystemsAreNoticed(t *testing.T) {
	b := &built{dist: "dist", artifact: []artifact{{"pawl.tar.gz", "dist/pawl.tar.gz", "Archive", "linux", "amd64"}}}
	if got, err := b.find("Archive", "linux", "amd64"); err != nil || got != "dist/pawl.tar.gz" {
		t.Errorf("%q, %v", got, err)
	}
	for _, s := range systems()[1:] {
		if got, err := b.find("Archive", s.goos, s.goarch); err == nil {
			t.Errorf("%v: %q", s, got)
		}
	}
	if got, err := b.findPackage(systems()[0], "deb"); err == nil {
		t.Errorf("a deb: %q", got)
	}
}

func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.tar.gz", "a")
	sum, err := hash(filepath.Join(dir, "a.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	b := &built{dist: dir, artifact: []artifact{{Name: "a.tar.gz", Type: "Archive"}}}
	for list, want := range map[string]string{
		sum + "  a.tar.gz\n":                     "",
		strings.Repeat("0", 64) + "  a.tar.gz\n": "another sum",
		"":                                       "lacks a.tar.gz",
	} {
		write("checksums.txt", list)
		if err := checkSums(b); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

// D-237: the same commit gives the same program, or the check fails
func TestOtherProgramsAreNoticed(t *testing.T) {
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for name, text := range map[string]string{a: "one", b: "two"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := same(a, b); err == nil {
		t.Error("two programs are one")
	}
	if err := same(a, a); err != nil {
		t.Error(err)
	}
}

func TestFormula(t *testing.T) {
	text := read(t, formulaTemplate)
	values := map[string]string{"TAG": "v1.2.3", "VERSION": "1.2.3", "REVISION": "abc", "SHA256": "def"}
	got, err := fill(text, values)
	if err != nil || !strings.Contains(got, "download/v1.2.3/pawl-1.2.3.tar.gz") || !strings.Contains(got, `sha256 "def"`) {
		t.Errorf("%v\n%s", err, got)
	}
	values["SHA256"] = ""
	if _, err := fill(text, values); err == nil || !strings.Contains(err.Error(), "@SHA256@") {
		t.Errorf("without a checksum: %v", err)
	}
}

// D-236: the image has the program alone, and another user than root
func TestImage(t *testing.T) {
	text := read(t, "Dockerfile")
	for _, want := range []string{"\nFROM scratch\n", "\nUSER 65532:65532\n", "\nENTRYPOINT [\"/pawl\"]\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Count(text, "FROM ") != 1 || strings.Contains(text, "\nRUN ") {
		t.Error("more than the program")
	}
}

func TestNoSuchCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"metadata.json": `{"version":"1.2.3"}`, "artifacts.json": `[]`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(context.Background(), dir, "nonsense"); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Error(err)
	}
	if err := run(context.Background(), filepath.Join(dir, "none"), ""); err == nil || !strings.Contains(err.Error(), "make snapshot") {
		t.Error(err)
	}
}

// D-455: a bill of materials names modules and their versions, not the folders that they were built from.
func TestBillNamesModules(t *testing.T) {
	bill := func(name, version string) error {
		file := filepath.Join(t.TempDir(), "bill.json")
		text := `{"bomFormat": "CycloneDX", "metadata": {"component": {"name": "github.com/bravellian/pawl/cmd/pawl"}}, "components": [` +
			`{"name": "github.com/jackc/pgx/v5"}, {"name": "modernc.org/sqlite"}, {"name": "std"}, {"name": "` + name + `", "version": "` + version + `"}]}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return checkSBOM(file)
	}
	if err := bill("github.com/bravellian/pawl", "v1.2.3"); err != nil {
		t.Error(err)
	}
	if bill("../..", "v1.2.3") == nil || bill("github.com/bravellian/pawl", "(devel)") == nil {
		t.Error("a folder was accepted")
	}
}
