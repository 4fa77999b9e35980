package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bravellian/pawl/internal/test/apt"
)

// A system is what a program is built for.
type system struct{ goos, goarch string }

func systems() []system {
	return []system{
		{"linux", "amd64"}, {"linux", "arm64"},
		{"darwin", "amd64"}, {"darwin", "arm64"},
		{"windows", "amd64"}, {"windows", "arm64"},
	}
}

// formats are those of packages for Linux.
func formats() []string { return []string{"deb", "rpm", "apk"} }

// checkContents checks every archive and package, the SBOMs and the checksums.
func checkContents(ctx context.Context, b *built) error {
	if err := apt.Install(ctx, os.Stderr, "libarchive-tools"); err != nil { // bsdtar reads them all
		return err
	}
	pages, err := commandPages("build/man")
	if err != nil {
		return err
	}
	var problems []error
	for _, s := range systems() {
		problems = append(problems, checkSystem(ctx, b, s, pages))
	}
	return errors.Join(append(problems, checkSums(b))...)
}

// commandPages returns the names of the pages that "pawl man" wrote.
func commandPages(dir string) ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(dir, "pawl*.1"))
	for i := range pages {
		pages[i] = filepath.Base(pages[i])
	}
	if err == nil && len(pages) == 0 {
		err = fmt.Errorf("no pages in %s", dir)
	}
	return pages, err
}

func checkSystem(ctx context.Context, b *built, s system, pages []string) error {
	archive, err := b.find("Archive", s.goos, s.goarch)
	if err != nil {
		return err
	}
	problems := []error{checkList(ctx, archive, inArchive(s, pages))}
	if s.goos == "linux" {
		for _, format := range formats() {
			name, err := b.findPackage(s, format)
			if err == nil {
				err = checkList(ctx, name, inPackage(format, pages))
			}
			problems = append(problems, err)
		}
	}
	sbom := fmt.Sprintf("pawl_%s_%s_%s.cdx.json", b.Version, s.goos, s.goarch)
	return errors.Join(append(problems, checkSBOM(filepath.Join(b.dist, sbom)))...)
}

// findPackage returns the package of a format for a system.
func (b *built) findPackage(s system, format string) (string, error) {
	for _, a := range b.artifact {
		if a.Type == "Linux Package" && a.Goarch == s.goarch && strings.HasSuffix(a.Name, "."+format) {
			return filepath.Join(b.dist, a.Name), nil
		}
	}
	return "", fmt.Errorf("no %s for %s", format, s.goarch)
}

// inArchive returns what an archive has to hold.
func inArchive(s system, pages []string) []string {
	want := []string{"pawl", "LICENSE", "NOTICE", "README.md", "completions/pawl.bash", "completions/_pawl", "completions/pawl.fish"}
	if s.goos == "windows" {
		want[0] = "pawl.exe"
	}
	for _, p := range pages {
		want = append(want, "man/"+p)
	}
	return want
}

// inPackage returns what a package has to hold.
func inPackage(format string, pages []string) []string {
	zsh := "usr/share/zsh/site-functions/_pawl"
	if format == "deb" {
		zsh = "usr/share/zsh/vendor-completions/_pawl"
	}
	want := []string{
		"usr/bin/pawl", "usr/share/doc/pawl/copyright", "usr/share/doc/pawl/NOTICE", zsh,
		"usr/share/bash-completion/completions/pawl", "usr/share/fish/vendor_completions.d/pawl.fish",
	}
	for _, p := range pages {
		want = append(want, "usr/share/man/man1/"+p+".gz")
	}
	return want
}

func checkList(ctx context.Context, name string, want []string) error {
	got, err := list(ctx, name)
	if err != nil {
		return err
	}
	return missing(filepath.Base(name), want, got)
}

// missing returns an error that names what an archive lacks.
func missing(name string, want, got []string) error {
	var lacks []string
	for _, w := range want {
		if !slices.Contains(got, w) {
			lacks = append(lacks, w)
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%s lacks %s", name, strings.Join(lacks, ", "))
	}
	return nil
}

// list returns the names of the files in an archive or package.
func list(ctx context.Context, name string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "bsdtar", "-tf", name)
	if strings.HasSuffix(name, ".deb") {
		cmd = exec.CommandContext(ctx, "sh", "-c", `dpkg-deb --fsys-tarfile "$0" | bsdtar -tf -`, name)
	}
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, err, problem.Bytes())
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		names = append(names, strings.TrimPrefix(path.Clean(strings.TrimSpace(line)), "/"))
	}
	return names, nil
}

// checkSBOM checks that a bill of materials names pawl and what it is linked with.
func checkSBOM(name string) error {
	var bom struct {
		BOMFormat string
		Metadata  struct{ Component struct{ Name string } }

		Components []struct{ Name, Version string }
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &bom); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var components []string
	for _, c := range bom.Components {
		if strings.HasPrefix(c.Name, ".") || strings.HasPrefix(c.Version, "(") {
			return fmt.Errorf("%s names a folder: %s %s", name, c.Name, c.Version)
		}
		components = append(components, c.Name)
	}
	if bom.BOMFormat != "CycloneDX" || bom.Metadata.Component.Name != "github.com/bravellian/pawl/cmd/pawl" {
		return fmt.Errorf("%s is a %q of %q", name, bom.BOMFormat, bom.Metadata.Component.Name)
	}
	return missing(name, []string{"github.com/bravellian/pawl", "github.com/jackc/pgx/v5", "modernc.org/sqlite", "std"}, components)
}

// checkSums checks that checksums.txt has every file that is published, and has it right.
func checkSums(b *built) error {
	text, err := os.ReadFile(filepath.Join(b.dist, "checksums.txt"))
	if err != nil {
		return err
	}
	var listed []string
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		want, name, _ := strings.Cut(s.Text(), "  ")
		listed = append(listed, name)
		got, err := hash(filepath.Join(b.dist, name))
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("checksums.txt has another sum of %s", name)
		}
	}
	return missing("checksums.txt", b.published(), listed)
}

// published returns the names of the files of a release.
func (b *built) published() []string {
	var names []string
	for _, a := range b.artifact {
		if slices.Contains([]string{"Archive", "Source", "Linux Package", "SBOM"}, a.Type) {
			names = append(names, a.Name)
		}
	}
	return names
}
