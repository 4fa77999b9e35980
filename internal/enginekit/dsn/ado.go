package dsn

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ErrADO is returned for an ADO.NET connection string that is another engine's, or cannot be read.
var ErrADO = errors.New("an ADO.NET connection string")

// adoNames are settings of ADO.NET with which a connection string may begin, and go-mssqldb's names for them. With the
// others it can be PostgreSQL's list, too.
func adoNames() map[string]string {
	return map[string]string{
		"server": "server", "data source": "server", "address": "server", "addr": "server", "network address": "server", "initial catalog": "database", "database": "database",
		"user id": "user id", "uid": "user id", "user": "user id", "pwd": "password", "password": "password", "application name": "app name", "app": "app name",
		"connect timeout": "dial timeout", "connection timeout": "dial timeout", "timeout": "dial timeout", "trust server certificate": "trustservercertificate",
		"integrated security": "integrated security", "trusted_connection": "trusted_connection", "encrypt": "encrypt", "trustservercertificate": "trustservercertificate",
		"persist security info": "persist security info", "username": "username", "host": "host", "port": "port", "filename": "filename",
	}
}

// lists are those of adoNames that PostgreSQL's lists have.
const lists = " database user password host port "

// ADO returns the sqlserver:// URL of an ADO.NET connection string, "Server=h;Database=d;User Id=u;Password=p", and any
// other text as it is. One of another engine is ErrADO, and the error says what to write instead. Errors contain nothing
// of the text.
func ADO(text string) (string, error) {
	settings, ok, err := adoSettings(text)
	if !ok || err != nil {
		return text, err
	}
	switch has := func(name string) bool { _, ok := settings[name]; return ok }; {
	case has("host"), has("username"), has("passfile"), has("ssl mode"), has("search path"), has("port"):
		return "", fmt.Errorf(`%w of Npgsql, for PostgreSQL: write postgres://USER:PASSWORD@HOST:PORT/DATABASE or "host=HOST user=USER password=PASSWORD dbname=DATABASE"`, ErrADO)
	case has("filename"), has("mode"), has("cache"), has("foreign keys"), isFile(settings["server"]):
		return "", fmt.Errorf("%w of Microsoft.Data.Sqlite: write sqlite:PATH", ErrADO)
	}
	host, instance, ok := adoServer(settings["server"])
	if !ok {
		return "", fmt.Errorf("%w whose server cannot be read: want Server=HOST, HOST,PORT or HOST\\INSTANCE, by TCP", ErrADO)
	}
	u, query := url.URL{Scheme: "sqlserver", Host: host, Path: instance}, url.Values{}
	for name, value := range settings {
		switch name {
		case "server", "user id", "password":
		default:
			query.Set(name, value)
		}
	}
	if user, password := settings["user id"], settings["password"]; password != "" {
		u.User = url.UserPassword(user, password)
	} else if user != "" {
		u.User = url.User(user)
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// adoSettings reads a connection string. ok is false for what is none.
func adoSettings(text string) (settings map[string]string, ok bool, err error) {
	settings = map[string]string{}
	for first := true; strings.Trim(text, blanks+";") != ""; first = false {
		name, rest, assigned := strings.Cut(strings.TrimLeft(text, blanks+";"), "=")
		name = strings.ToLower(strings.Trim(name, blanks))
		value, behind := adoValue(strings.TrimLeft(rest, blanks))
		known := adoNames()[name]
		if first {
			list := strings.Contains(lists, " "+name+" ")
			if known == "" || list && (behind == "" || strings.Contains(value, "=")) {
				return nil, false, nil
			}
		}
		if known == "" {
			known = name
		}
		_, twice := settings[known]
		switch {
		case !assigned, strings.Contains(name, ";"):
			return nil, true, fmt.Errorf("%w with a part that has no =: a password with ; or quotes stands in quotes, with its own doubled", ErrADO)
		case twice:
			return nil, true, fmt.Errorf("%w: %w", ErrADO, ErrTwice)
		}
		settings[known], text = value, behind
	}
	return settings, len(settings) > 0, nil
}

// adoValue returns a value, in quotes that are doubled inside or up to the next semicolon, and what follows.
func adoValue(text string) (value, behind string) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		value, behind, _ = strings.Cut(text, ";")
		if strings.Contains(text, ";") {
			behind = ";" + behind
		}
		return strings.Trim(value, blanks), behind
	}
	quote := text[:1]
	parts := strings.SplitAfter(text[1:], quote)
	for i := 0; i < len(parts); i++ {
		part, closed := strings.CutSuffix(parts[i], quote)
		value += part
		if !closed || i+1 < len(parts) && parts[i+1] != quote {
			return value, strings.Join(parts[i+1:], "")
		}
		value += quote
		i++
	}
	return value, ""
}

// adoServer reads "tcp:HOST,PORT" and "HOST\INSTANCE".
func adoServer(text string) (host, path string, ok bool) {
	text = strings.TrimPrefix(strings.ToLower(text), "tcp:")
	text, instance, named := strings.Cut(text, `\`)
	host, port, ported := strings.Cut(text, ",")
	if host = strings.TrimSpace(host); host == "." || host == "(local)" {
		host = "localhost"
	}
	if ported {
		host += ":" + strings.TrimSpace(port)
	}
	if named {
		path = "/" + instance
	}
	return host, path, host != "" && !strings.ContainsFunc(host+instance, func(r rune) bool { return notInHosts(r) && r != '$' })
}

// isFile reports whether a data source is a file of SQLite.
func isFile(source string) bool {
	for _, end := range []string{".db", ".db3", ".sqlite", ".sqlite3", ":memory:"} {
		if strings.HasSuffix(strings.ToLower(source), end) {
			return true
		}
	}
	return false
}
