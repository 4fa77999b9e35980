package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// D-239: each link of the Markdown leads to a file and a heading that are there.
func TestMarkdown(t *testing.T) {
	n, err := checkMarkdown("../..")
	if err != nil {
		t.Error(err)
	}
	if n < 1000 {
		t.Errorf("%d links are found", n)
	}
}

const good = "# A page\n\n## Two `words`, and *more*\n\n## Two words and more\n\n<a id=\"own\"></a> [self](#two-words-and-more-1) [own](#own) ![p](p.png \"title\")\n" +
	"[up](../README.md#top-of-it) `[code](nowhere)` https://x.example [away](https://x.example/a#b)\n\n```\n[block](nowhere)\n```\n"

// D-239: of a page's links the wrong ones are found, and those alone.
func TestWrongLinks(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"all are good", "", ""},
		{"file", "[x](gone.md)", "gone.md: there is no such file"},
		{"picture", "![x](gone.png)", "gone.png: there is no such file"},
		{"heading here", "[x](#gone)", "#gone: there is no such heading"},
		{"heading elsewhere", "[x](../README.md#gone)", "there is no such heading"},
		{"definition", "[x]: gone.md", "gone.md: there is no such file"},
		{"outside", "[x](../../../etc)", ""},
		{"leaves the repository", "[x](../../x.md)", ""},
		{"form", "[x](http:/x)", "neither https nor http"},
		{"scheme", "[x](ftp://x.example)", "neither https nor http"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "README.md", "# Top of it\n")
			write(t, dir, "docs/p.png", "")
			write(t, dir, "docs/a.md", good+tt.text+"\n")
			_, err := checkMarkdown(dir)
			compare(t, err, tt.want)
		})
	}
}

// D-239: so they are in the site, where links are relative and never to directories.
func TestWrongLinksOfTheSite(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"all are good", "", ""},
		{"page", `<a href="gone.html">`, "there is no such page"},
		{"anchor", `<a class=x href='../index.html#gone'>`, "there is no such anchor"},
		{"anchor here", `<a href=#gone>`, "there is no such anchor"},
		{"picture", `<img src="gone.png">`, "there is no such page"},
		{"script", `<script src="gone.js"></script>`, "there is no such page"},
		{"root", `<a href="/index.html">`, "it is not relative"},
		{"directory", `<a href="../">`, "it is a directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "index.html", `<h1 id="top">x</h1>`)
			write(t, dir, "docs/a.html", `<p id="a-b">&lt;a href="x"&gt; <a href="../index.html#top">x</a> <a href="#a-b">x</a> <!-- <a href="x"> --> <a href="https://x.example">`+tt.text)
			_, err := checkSite(dir)
			compare(t, err, tt.want)
		})
	}
	if _, err := checkSite(t.TempDir()); err == nil {
		t.Error("a site without pages is well")
	}
}

func compare(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")):
		t.Errorf("got %v, want %s", err, want)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
