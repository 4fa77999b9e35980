package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// reproducible builds the program for linux/amd64 from the source archive, in another
// directory and with an empty build cache, and compares it with the one in dist.
func reproducible(ctx context.Context, b *built) error {
	released, err := b.find("Binary", "linux", "amd64")
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "pawl-rebuilt-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := os.Mkdir(filepath.Join(tmp, "source"), 0o755); err != nil {
		return err
	}
	if err := command(ctx, nil, "tar", "-xzf", b.source(), "-C", filepath.Join(tmp, "source"), "--strip-components=1"); err != nil {
		return err
	}
	write := exec.CommandContext(ctx, "sh", "tools/release/module.sh", "build/pawl.mod")
	write.Dir = filepath.Join(tmp, "source")
	if out, err := write.CombinedOutput(); err != nil {
		return fmt.Errorf("module.sh: %w\n%s", err, out)
	}
	env := []string{"CGO_ENABLED=0", "GOWORK=off", "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "GOCACHE=" + filepath.Join(tmp, "cache")}
	args := []string{"build", "-C", filepath.Join(tmp, "source", "cmd", "pawl"), "-o", filepath.Join(tmp, "pawl")}
	args = append(args, buildFlags(b.Version, b.Commit)...)
	if err := command(ctx, env, "go", append(args, ".")...); err != nil {
		return err
	}
	return same(released, filepath.Join(tmp, "pawl"))
}

// buildFlags are those of .goreleaser.yaml.
func buildFlags(version, commit string) []string {
	return []string{"-trimpath", "-buildvcs=false", "-modfile=../../build/pawl.mod", "-ldflags", "-s -w -X main.releaseVersion=v" + version + " -X main.releaseRevision=" + commit}
}

// same returns an error unless two files are equal.
func same(a, b string) error {
	first, err := hash(a)
	if err != nil {
		return err
	}
	second, err := hash(b)
	if err != nil {
		return err
	}
	if first != second {
		return fmt.Errorf("%s has the SHA-256 %s, built again %s", a, first, second)
	}
	fmt.Println("built again:", first)
	return nil
}

func command(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
