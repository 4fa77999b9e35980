// Command api writes what each public package exports to api/*.txt, a line for every
// name that a program can use: constants, variables, functions, types, their fields and
// methods. The tests of this command fail while a file is out of date, so that no name
// is added, changed or removed unnoticed. It also writes docs/api.md, an overview from the
// comments in the code.
//
//	go run ./tools/api          writes the files
//	go run ./tools/api -count   prints how many names each package exports, with the fields of structs and without
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	count := flag.Bool("count", false, "print how many names each package exports")
	flag.Parse()
	if err := run(*count); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func run(count bool) error {
	packages, err := exported(".")
	if err != nil {
		return err
	}
	if count {
		total, without := 0, 0
		for _, p := range packages {
			bare := p.withoutFields()
			fmt.Printf("%5d %5d %s\n", len(p.names), bare, p.path)
			total, without = total+len(p.names), without+bare
		}
		fmt.Printf("%5d %5d in %d packages\n", total, without, len(packages))
		return nil
	}
	if err := write(packages, filepath.Join(".", "api")); err != nil {
		return err
	}
	text, err := overview(packages, ".")
	if err != nil {
		return err
	}
	return os.WriteFile(overviewPage, []byte(text), 0o644)
}
