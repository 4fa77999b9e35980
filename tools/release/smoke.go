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
	if err := furnish(root, filepath.Dir(binary)); err != nil {
		return err
	}
	for _, line := range []struct {
		args []string
		want string
	}{
		{[]string{"version"}, "pawl v" + b.Version + " " + b.Commit},
		{[]string{"jobs", "next", "0 6 * * MON", "--zone", "Europe/Berlin"}, "06:00"},
		{[]string{"--db", "/data/a.db", "migrate"}, ""},
		{[]string{"--db", "/data/a.db", "enqueue", "--topic", "order.created", "/data/in"}, ""},
		{[]string{"--db", "/data/a.db", "ls"}, "order.created"},
		{[]string{"--db", "/data/a.db", "doctor"}, ""},
	} {
		out, err := inside(ctx, root, line.args)
		if err != nil || !strings.Contains(out, line.want) {
			return fmt.Errorf("pawl %s in an empty directory: %v, want %q:\n%s", strings.Join(line.args, " "), err, line.want, out)
		}
	}
	return nil
}

// furnish copies the program to root, with a directory data that the image's user may write.
func furnish(root, program string) error {
	if err := os.CopyFS(root, os.DirFS(program)); err != nil {
		return err
	}
	data := filepath.Join(root, "data")
	return errors.Join(os.Chmod(root, 0o755), os.Mkdir(data, 0o755), os.Chmod(data, 0o777),
		os.WriteFile(filepath.Join(data, "in"), []byte("{}\n"), 0o644))
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
