package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// smoke runs the program in a directory that holds nothing else, as the image does.
func smoke(ctx context.Context, b *built) error {
	binary, err := b.find("Binary", "linux", runtime.GOARCH)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "pawl-scratch-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := os.CopyFS(root, os.DirFS(filepath.Dir(binary))); err != nil {
		return err
	}
	data := filepath.Join(root, "data")
	if err := errors.Join(os.Chmod(root, 0o755), os.Mkdir(data, 0o755), os.Chmod(data, 0o777)); err != nil {
		return err
	}
	for _, line := range []struct {
		args string
		want string
	}{
		{"version", "pawl v" + b.Version + " " + b.Commit},
		{"jobs next --zone Europe/Berlin 0#6#*#*#MON", "06:00"},
		{"--db /data/a.db migrate", ""},
		{"--db /data/a.db enqueue order.created {}", ""},
		{"--db /data/a.db doctor", ""},
		{"--db /data/a.db ls", "order.created"},
	} {
		var args []string
		for a := range strings.FieldsSeq(line.args) {
			args = append(args, strings.ReplaceAll(a, "#", " "))
		}
		out, err := inside(ctx, root, args)
		if err != nil || !strings.Contains(out, line.want) {
			return fmt.Errorf("pawl %s in an empty directory: %w, want %q:\n%s", line.args, err, line.want, out)
		}
	}
	return nil
}

// inside runs the program with root as its root directory, as the user of the image and
// without an environment.
func inside(ctx context.Context, root string, args []string) (string, error) {
	line := append([]string{"chroot", "--userspec=65532:65532", root, "/pawl"}, args...)
	if os.Getuid() != 0 {
		line = append([]string{"sudo", "-n"}, line...)
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"} // where chroot is
	out, err := cmd.CombinedOutput()
	return string(out), err
}
