// Command links fails when a link of the documentation leads nowhere: to a file, a heading, a
// picture or a page that is not there. Links to other sites are only parsed; nothing is fetched.
//
//	go run ./tools/links                     the Markdown, as GitHub shows it
//	go run ./tools/links -site site/public   the site, as it was built
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
)

func main() {
	root := flag.String("root", ".", "the `directory` of the repository")
	site := flag.String("site", "", "the `directory` of a built site to check instead")
	flag.Parse()
	var (
		n   int
		err error
	)
	if *site != "" {
		n, err = checkSite(*site)
	} else {
		n, err = checkMarkdown(*root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d links lead somewhere\n", n)
}

// external reports whether a link leads to another site, and whether it has the form of one.
func external(link string) (bool, error) {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return true, err
	case u.Scheme == "":
		return false, nil
	case u.Scheme == "mailto":
		return true, nil
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return true, errors.New("neither https nor http")
	}
	return true, nil
}
