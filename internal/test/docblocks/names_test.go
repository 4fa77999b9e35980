package docblocks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// name is a name of one of pawl's packages as documentation writes it: `outbox.Message`.
var name = regexp.MustCompile("`" + `\*?([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)

// missing returns the names in a text that no package has. api has the list of each package.
func missing(text string, api map[string]string) (names []string) {
	for _, m := range name.FindAllStringSubmatch(text, -1) {
		list, ok := api[m[1]]
		for _, part := range m[2:] {
			if ok && part != "" && !regexp.MustCompile(`\b`+part+`\b`).MatchString(list) {
				names = append(names, strings.Trim(m[0], "`"))
				break
			}
		}
	}
	return names
}

// D-493: documentation names no function, type or field that is not there.
func TestNames(t *testing.T) {
	api := map[string]string{}
	lists, err := filepath.Glob("../../../api/*.txt")
	if err != nil || len(lists) == 0 {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	for _, file := range lists {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(filepath.Base(file), ".txt")
		pkg := base[strings.LastIndexAny(base, "-_.")+1:]
		api[pkg] += string(text)
	}
	if got := missing("`outbox.Message.Due` `outbox.Massage(x)` `outbox.Message.Dew` `other.Thing` `*parts.Outbox`", api); len(got) != 2 {
		t.Errorf("found %q", got)
	}
	for _, pattern := range []string{"../../../docs/*.md", "../../../README.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range missing(string(text), api) {
				t.Errorf("%s: there is no %s", filepath.Base(page), n)
			}
		}
	}
}
