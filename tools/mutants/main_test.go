package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The list fits the code: otherwise a mutant would test nothing from one commit on.
func TestListFitsTheCode(t *testing.T) {
	mutants, err := readLists("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := fit("../..", mutants); err != nil {
		t.Error(err)
	}
	if len(mutants) < 60 {
		t.Errorf("%d mutants, want at least 60", len(mutants))
	}
}

const example = `# A comment.

D-1: twice is once
file double.go
test . -run TestDouble
-	return 2 * n
+	return n

D-1, OBX-001: more than twice
file double.go
test . -run TestDouble
-	return 2 * n
+	n++
+	return 2 * n
`

func TestListsAreParsed(t *testing.T) {
	all, err := parse("x.txt", example)
	if err != nil || len(all) != 2 || all[0].old != "\treturn 2 * n" || all[1].new != "\tn++\n\treturn 2 * n" || all[1].position != "x.txt:9" {
		t.Fatalf("%v: %+v", err, all)
	}
	for name, wrong := range map[string]string{
		"no number":   strings.Replace(example, "D-1: ", "", 1),
		"no file":     strings.Replace(example, "file double.go\n", "", 1),
		"no test":     strings.Replace(example, "test . -run TestDouble\n", "", 1),
		"no old text": strings.Replace(example, "-\treturn 2 * n\n", "", 1),
		"no new text": strings.Replace(example, "+\treturn n\n", "", 1),
		"no change":   strings.Replace(example, "+\treturn n\n", "+\treturn 2 * n\n", 1),
		"a stray":     strings.Replace(example, "+\treturn n\n", "return n\n", 1),
	} {
		if _, err := parse("x.txt", wrong); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A module with a test that notices one mutant and misses the other.
func TestSurvivorsFailTheRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"docs/two.txt":   "2",
		"two_test.go":    "package example\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestTwo(t *testing.T) {\n\tif text, _ := os.ReadFile(\"docs/two.txt\"); string(text) != \"2\" {\n\t\tt.Fail()\n\t}\n}\n",
		"go.mod":         "module example\n\ngo 1.24\n",
		"double.go":      "package example\n\nfunc Double(n int) int {\n\treturn 2 * n\n}\n",
		"double_test.go": "package example\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) < 4 {\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mutants, err := parse("x.txt", example)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := runner{root: dir, parallel: 2, out: &out}
	if err := r.run(t.Context(), mutants); err == nil || !strings.Contains(err.Error(), "1 mutants were not noticed") {
		t.Errorf("%v\n%s", err, &out)
	}
	if !strings.Contains(out.String(), "killed    x.txt:3") || !strings.Contains(out.String(), "by TestDouble") || !strings.Contains(out.String(), "SURVIVED  x.txt:9") {
		t.Error(out.String())
	}
	copied := mutant{position: "x.txt:20", file: "docs/two.txt", test: []string{".", "-run", "TestTwo"}, old: "2", new: "3"}
	out.Reset()
	if err := r.run(t.Context(), []mutant{copied}); err != nil || !strings.Contains(out.String(), "by TestTwo") {
		t.Errorf("a file that the test reads: %v\n%s", err, &out)
	}
	mutants[1].new = "\treturn 2 * m"
	out.Reset()
	if err := r.run(t.Context(), mutants); err == nil || !strings.Contains(out.String(), "does not compile") {
		t.Errorf("%v\n%s", err, &out)
	}
	mutants[1].test = []string{".", "-run", "TestNothing"}
	out.Reset()
	err = r.run(t.Context(), mutants)
	if err == nil || !strings.Contains(out.String(), "no test of that name") || !strings.Contains(out.String(), "2 mutants, 1 killed") {
		t.Errorf("%v\n%s", err, &out)
	}
}
