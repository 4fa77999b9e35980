package target_test

import (
	"strings"
	"testing"

	"github.com/bravellian/pawl/cmd/pawl/internal/target"
	"github.com/bravellian/pawl/internal/engine"
)

// D-5, D-303: in whatever form a database is named, with whatever in its password, neither what is shown of it nor
// the error that refuses it has the password.
func FuzzNames(f *testing.F) {
	for _, around := range []string{"", "@", "/", "?", "#", ":", "%", "%zz", " ", "'", `"`, `\`, "&", "=", ";", ",", "}", "{", "@/", "/@", "?x=", "\n", "ü", ";database=", "\x1b"} {
		f.Add(around, "")
		f.Add("", around)
		f.Add("12"+around, around)
	}
	const canary = "kanari7"
	f.Fuzz(func(t *testing.T, before, after string) {
		password := before + canary + after
		if strings.ContainsAny(password, "&/") { // docs/threat-model.md: the end of a parameter, and a folder
			return
		}
		for _, text := range []string{
			"sqlserver://u:" + password + "@127.0.0.1:1?database=d", "sqlserver://127.0.0.1:1?user id=u&password=" + password, "Server=127.0.0.1,1;User ID=u;Password=" + password + ";Database=d",
			"server=127.0.0.1;password={" + password + "}", "postgres://u:" + password + "@127.0.0.1:1/d", "host=127.0.0.1 port=1 user=u password=" + password, "host=127.0.0.1 password='" + password + "'",
			"postgres://127.0.0.1:1/d?user=u&password=" + password, "postgres://127.0.0.1:1/d?sslpassword=" + password, "mysql://u:" + password + "@h/d", "sqlite://u:" + password + "@h/d",
		} {
			for _, parse := range []func(string, engine.Names) (target.Target, error){target.Parse, target.ParseURL} {
				at, err := parse(text, engine.Names{})
				if err != nil {
					if strings.Contains(err.Error(), canary) {
						t.Errorf("%q is refused by %q", text, err)
					}
					continue
				}
				if shown := at.String(); strings.Contains(shown, canary) {
					t.Errorf("%q is shown as %q", text, shown)
				}
			}
		}
	})
}
