package dsn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bravellian/pawl/internal/enginekit/dsn"
)

// D-813: a connection string of ADO.NET becomes the URL that go-mssqldb reads, and any other text stays.
func TestADO(t *testing.T) {
	for text, want := range map[string]string{
		"Server=h;Database=d;User Id=u;Password=p":                      "sqlserver://u:p@h?database=d",
		"data source=tcp:H.example,1433;initial catalog=d;UID=u;PWD=p;": "sqlserver://u:p@h.example:1433?database=d",
		`Server=.\SQLEXPRESS;Database=d;Integrated Security=true`:       "sqlserver://localhost/sqlexpress?database=d",
		`Server=(local);Encrypt=True;TrustServerCertificate=True`:       "sqlserver://localhost?encrypt=True&trustservercertificate=True",
		`Server=h;User Id=u;Password="a;b""c"`:                          "sqlserver://u:a;b%22c@h",
		`Server=h;User Id=u;Password='a''@b' ; Database = d`:            "sqlserver://u:a%27%40b@h?database=d",
		"Server=h;User Id=u;Password=a=b/c?d@e":                         "sqlserver://u:a=b%2Fc%3Fd%40e@h",
		"Database=d;Server=h":                                           "sqlserver://h?database=d",
		"Server=h;Connect Timeout=30;Application Name=shop":             "sqlserver://h?app+name=shop&dial+timeout=30",
		"host=h dbname=d":             "host=h dbname=d",
		"host=h password=a;b=c":       "host=h password=a;b=c",
		"database=d":                  "database=d",
		"password = 'a b' host=h":     "password = 'a b' host=h",
		"shop.db":                     "shop.db",
		"file:x.db?a=b;c":             "file:x.db?a=b;c",
		"postgres://u:a;server=b@h/d": "postgres://u:a;server=b@h/d",
		"":                            "",
	} {
		if got, err := dsn.ADO(text); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
}

// D-813: one of another engine is named, with what to write; what cannot be read shows nothing of itself.
func TestADORefuses(t *testing.T) {
	for text, want := range map[string]string{
		"Host=h;Username=u;Password=secret;Database=d":   "of Npgsql",
		"Server=h;Port=5432;User Id=u;Password=secret":   "of Npgsql",
		"Database=d;Host=h;Password=secret":              "of Npgsql",
		"Username=u;Host=h":                              "postgres://USER",
		"Data Source=shop.db":                            "write sqlite:PATH",
		"Data Source=shop;Mode=ReadOnly;Password=secret": "of Microsoft.Data.Sqlite",
		"Filename=shop":                                  "of Microsoft.Data.Sqlite",
		"Server=h;Password=secret;server=secret":         "twice",
		"Server=h;Password=a;secret":                     "stands in double quotes",
		`Server=h;Password="a";secret=b;Pwd=secret`:      "twice",
		`Server=(localdb)\secret;Database=d`:             "cannot be read",
		`Server=u:secret@h;Database=d`:                   "cannot be read",
		"Initial Catalog=d;Password=secret":              "cannot be read",
		"Server=h;Password={a;secret}":                   "double quotes",
		"Server=h;Password=a;x=secret":                   "unknown setting",
		`Server=h;Password="a"secret=b`:                  "unknown setting",
		"Server=h;Password='a'b;secret=c":                "double quotes",
	} {
		got, err := dsn.ADO(text)
		if !errors.Is(err, dsn.ErrADO) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error()+got, "secret") {
			t.Errorf("%q: %q, %v; want an error with %q", text, got, err, want)
		}
	}
	for _, text := range []string{"Server=h;Database=d;Password=secret", "Host=h;Username=u;Password=secret"} {
		if err := dsn.Check(text); !errors.Is(err, dsn.ErrADO) || strings.Contains(err.Error(), "secret") {
			t.Errorf("PostgreSQL takes %q: %v", text, err)
		}
	}
}
