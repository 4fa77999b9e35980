package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const formulaTemplate = "deploy/homebrew/pawl.rb.in"

// writeFormula writes the formula that builds from the source archive.
func writeFormula(_ context.Context, b *built) error {
	text, err := os.ReadFile(formulaTemplate)
	if err != nil {
		return err
	}
	sum, err := hash(b.source())
	if err != nil {
		return err
	}
	filled, err := fill(string(text), map[string]string{
		"TAG": b.Tag, "VERSION": b.Version, "REVISION": b.Commit, "SHA256": sum,
	})
	if err != nil {
		return err
	}
	name := filepath.Join(b.dist, "homebrew", "pawl.rb")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(filled), 0o644)
}

var placeholder = regexp.MustCompile(`@[A-Z0-9]+@`)

// fill replaces each @NAME@ of a template. Names without a value are an error.
func fill(template string, values map[string]string) (string, error) {
	for name, value := range values {
		if value != "" {
			template = strings.ReplaceAll(template, "@"+name+"@", value)
		}
	}
	if left := placeholder.FindString(template); left != "" {
		return "", fmt.Errorf("no value for %s", left)
	}
	return template, nil
}

// hash returns a file's SHA-256.
func hash(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
