package job

import (
	"os"
	"strings"
)

// Environ is this process's environment for a command that is not pawl's. Without
// all, what names pawl's database is left out: the command may log its environment, or
// be somebody else's, and a database's name may hold a password.
func Environ(all bool) []string {
	if all {
		return os.Environ()
	}
	var kept []string
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); !namesDatabase(name, value) {
			kept = append(kept, variable)
		}
	}
	return kept
}

// namesDatabase reports whether a variable of pawl names a database, or has the user
// or password of one.
func namesDatabase(name, value string) bool {
	if !strings.HasPrefix(name, "PAWL_") {
		return false
	}
	value = strings.ToLower(value)
	return name == "PAWL_DB" || strings.Contains(value, "://") || strings.Contains(value, "password")
}
