// Command engine-contract writes docs/engine-contract.md, what an engine has to answer and
// how the engines there are do, and prints how many files and lines they take for it.
//
//	go run ./tools/engine-contract           write the page, print the lines
//	go run ./tools/engine-contract -check    only complain if the page is out of date
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

const page = "docs/engine-contract.md"

func main() {
	root := flag.String("root", ".", "the `directory` of the module")
	check := flag.Bool("check", false, "write nothing; fail if the page is out of date")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	c, err := count(root)
	if err != nil {
		return err
	}
	text := c.render()
	path := filepath.Join(root, page)
	if !check {
		_, _ = os.Stdout.Write(c.renderEngines())
		return os.WriteFile(path, text, 0o644)
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is out of date: run go run ./tools/engine-contract", page)
	}
	return nil
}
