package engine

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// LoadOps reads every operation below root in files and renders it: the
// operation "outbox/claim" is the file root/outbox/claim.sql. Folder "schema"
// holds migrations and is left out.
func LoadOps(files fs.FS, n Names) (map[string]string, error) {
	ops := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".sql" || strings.HasPrefix(name, "schema/") {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		ops[strings.TrimSuffix(name, ".sql")] = n.Render(stripHeader(string(text)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load operations: %w", err)
	}
	return ops, nil
}

// stripHeader drops the comment lines that open a file: they document the
// operation's contract for readers and would only cost parsing time.
func stripHeader(text string) string {
	for strings.HasPrefix(text, "--") {
		_, rest, _ := strings.Cut(text, "\n")
		text = rest
	}
	return strings.TrimSpace(text)
}
