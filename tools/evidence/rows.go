package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is what the tests of one package showed on one server.
type row struct {
	Version, Setting, Package string
	Passed, Failed            int
	Commit, Date              string
}

func (r row) compare(other row) int {
	return cmp.Or(cmp.Compare(r.Version, other.Version), cmp.Compare(r.Setting, other.Setting), cmp.Compare(r.Package, other.Package))
}

const header = "| version | setting | package | passed | failed | commit | date |\n|---|---|---|---|---|---|---|\n"

// table writes rows.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString(header)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s | %s |\n", r.Version, r.Setting, r.Package, r.Passed, r.Failed, r.Commit, r.Date)
	}
	return b.String()
}

// versions are those that a row may be of, and settings what the workflow runs each with. What is asked for is
// checked: an emulator is no evidence.
func versions() []string { return []string{"2016", "2017", "2019", "2022", "2025", "Azure SQL"} }

// matrix are the versions and settings of the workflow. What is a preview is one until each has rows and no failure.
func matrix() (wantVersions, wantSettings []string) {
	return []string{"2017", "2019", "2022", "2025"}, []string{
		"READ_COMMITTED_SNAPSHOT on", "READ_COMMITTED_SNAPSHOT off", "READ_COMMITTED_SNAPSHOT on, Turkish_CI_AS", "READ_COMMITTED_SNAPSHOT on, Latin1_General_100_BIN2",
	}
}

var (
	settingForm = regexp.MustCompile(`^READ_COMMITTED_SNAPSHOT (on|off)(, \w+)?$`)
	commitForm  = regexp.MustCompile(`^[0-9a-f]{7,40}(-dirty)?$`)
)

// parse reads the rows behind the header, which have to be all that follows it.
func parse(text string) (rows []row, err error) {
	_, body, ok := strings.Cut(text, header)
	if !ok {
		return nil, fmt.Errorf("no table with the columns %q", strings.SplitN(header, "\n", 2)[0])
	}
	for line := range strings.Lines(body) {
		r, err := parseRow(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
		}
		if slices.ContainsFunc(rows, func(other row) bool { return r.compare(other) == 0 }) {
			return nil, fmt.Errorf("%q: a row of this version, setting and package stands above", strings.TrimSpace(line))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func parseRow(line string) (r row, err error) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) != 7 {
		return r, fmt.Errorf("%d cells, not 7", len(cells))
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	r = row{Version: cells[0], Setting: cells[1], Package: cells[2], Commit: cells[5], Date: cells[6]}
	var numbers [2]error
	r.Passed, numbers[0] = strconv.Atoi(cells[3])
	r.Failed, numbers[1] = strconv.Atoi(cells[4])
	_, noDate := time.Parse(time.DateOnly, r.Date)
	switch {
	case !slices.Contains(versions(), r.Version):
		return r, fmt.Errorf("%q is no version of SQL Server", r.Version)
	case !settingForm.MatchString(r.Setting):
		return r, fmt.Errorf("%q is no setting", r.Setting)
	case r.Package == "":
		return r, fmt.Errorf("no package")
	case numbers[0] != nil || numbers[1] != nil || r.Passed < 0 || r.Failed < 0 || r.Passed+r.Failed == 0:
		return r, fmt.Errorf("no numbers of tests")
	case !commitForm.MatchString(r.Commit):
		return r, fmt.Errorf("%q is no commit", r.Commit)
	case noDate != nil:
		return r, fmt.Errorf("%q is no date", r.Date)
	}
	return r, nil
}

func sums(rows []row) (passed, failed int) {
	for _, r := range rows {
		passed, failed = passed+r.Passed, failed+r.Failed
	}
	return passed, failed
}

// complete reports whether every version and setting of the workflow has a row of each package that any of them has.
func complete(rows []row) bool {
	var packages []string
	for _, r := range rows {
		packages = append(packages, r.Package)
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	all, settings := matrix()
	for _, v := range all {
		for _, s := range settings {
			for _, p := range packages {
				if !slices.ContainsFunc(rows, func(r row) bool { return r.Version == v && r.Setting == s && r.Package == p }) {
					return false
				}
			}
		}
	}
	return len(rows) > 0
}

// status is what rows allow to say of the module, behind "is".
func status(rows []row) string {
	if len(rows) == 0 {
		return "a preview: no SQL Server has run it"
	}
	var ran, commits []string
	oldest := rows[0].Date
	for _, r := range rows {
		ran, commits, oldest = append(ran, r.Version), append(commits, r.Commit), min(oldest, r.Date)
	}
	slices.Sort(ran)
	slices.Sort(commits)
	ran, commits = slices.Compact(ran), slices.Compact(commits)
	passed, failed := sums(rows)
	tested := fmt.Sprintf("tested on %s (commit %s, from %s on): %d of %d tests passed", strings.Join(ran, ", "), strings.Join(commits, ", "), oldest, passed, passed+failed)
	if failed > 0 || !complete(rows) || slices.ContainsFunc(commits, func(c string) bool { return strings.HasSuffix(c, "-dirty") }) {
		return "a preview, " + tested
	}
	return tested
}
