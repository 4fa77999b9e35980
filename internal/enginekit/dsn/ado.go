package dsn

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// ErrADO is returned for an ADO.NET connection string that is another engine's, or cannot be read.
var ErrADO = errors.New("an ADO.NET connection string")

// adoNames are the settings of the driver for SQL Server, and go-mssqldb's names for them; "" is one without effect there.
func adoNames() map[string]string {
	names := map[string]string{
		"data source": "server", "address": "server", "addr": "server", "network address": "server", "initial catalog": "database", "uid": "user id", "user": "user id", "pwd": "password",
		"application name": "app name", "app": "app name", "connect timeout": "dial timeout", "connection timeout": "dial timeout", "timeout": "dial timeout",
		"trust server certificate": "trustservercertificate", "host name in certificate": "hostnameincertificate", "application intent": "applicationintent",
		"multi subnet failover": "multisubnetfailover", "failover partner": "failoverpartner", "wsid": "workstation id",
	}
	for _, name := range []string{"server", "database", "user id", "password", "encrypt", "trustservercertificate", "hostnameincertificate", "applicationintent", "multisubnetfailover", "workstation id", "packet size"} {
		names[name] = name
	}
	for _, name := range []string{
		"integrated security", "trusted_connection", "persist security info", "pooling", "min pool size", "max pool size", "command timeout", "enlist", "type system version",
		"multipleactiveresultsets", "multiple active result sets", "connectretrycount", "connect retry count", "connectretryinterval", "connect retry interval", "load balance timeout",
		"connection lifetime", "current language", "language", "column encryption setting",
	} {
		names[name] = ""
	}
	return names
}

// others are settings of other engines alone.
const others = " host port username passfile sslmode ssl_mode search_path timezone filename mode cache foreign_keys "

// lists are settings that PostgreSQL's lists have, too.
const lists = " host port user password database passfile sslmode timezone search_path "

// ADO returns the sqlserver:// URL of an ADO.NET connection string, "Server=h;Database=d;User Id=u;Password=p", and any
// other text as it is. One of another engine is ErrADO, and the error says what to write instead. Errors contain nothing
// of the text.
func ADO(text string) (string, error) {
	settings, unknown, ok, err := adoSettings(text)
	if err != nil {
		return "", err
	}
	if !ok {
		return text, nil
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { _, ok := settings[name]; return ok })
	}
	switch {
	case has("host", "port", "username", "passfile", "sslmode", "ssl mode", "search path", "timezone"):
		return "", fmt.Errorf(`%w of Npgsql, for PostgreSQL: write postgres://USER:PASSWORD@HOST:PORT/DATABASE or "host=HOST user=USER password=PASSWORD dbname=DATABASE"`, ErrADO)
	case has("filename", "mode", "cache", "foreign keys"), isFile(settings["server"]):
		return "", fmt.Errorf("%w of Microsoft.Data.Sqlite: write sqlite:PATH", ErrADO)
	}
	if unknown {
		return "", fmt.Errorf("%w with an unknown setting: %s", ErrADO, quoting)
	}
	host, instance, ok := adoServer(settings["server"])
	if !ok {
		return "", fmt.Errorf("%w whose server cannot be read: want Server=HOST, HOST,PORT or HOST\\INSTANCE, by TCP", ErrADO)
	}
	u, query := url.URL{Scheme: "sqlserver", Host: host, Path: instance}, url.Values{}
	for name, value := range settings {
		if effect, ours := adoNames()[name]; (effect != "" || !ours) && name != "server" && name != "user id" && name != "password" {
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

// quoting is what may be wrong with a string that cannot be read.
const quoting = "a password with a semicolon, a quote or a brace stands in double quotes, with its own double quotes doubled"

// adoSettings reads a connection string, with go-mssqldb's names. unknown: it has others, too. ok is false for what is
// none.
func adoSettings(text string) (settings map[string]string, unknown, ok bool, err error) {
	settings = map[string]string{}
	for first := true; strings.Trim(text, blanks+";") != ""; first = false {
		name, rest, assigned := strings.Cut(strings.TrimLeft(text, blanks+";"), "=")
		name = strings.ToLower(strings.Trim(name, blanks))
		value, behind := adoValue(strings.TrimLeft(rest, blanks))
		canonical, known := adoNames()[name]
		word := " " + strings.ReplaceAll(name, " ", "_") + " "
		if first && (!known && !strings.Contains(others, word) || strings.Contains(lists, word) && (!strings.HasPrefix(behind, ";") || strings.Contains(value, "="))) {
			return nil, false, false, nil
		}
		if canonical == "" {
			canonical = name
		}
		_, twice := settings[canonical]
		switch {
		case !assigned, strings.ContainsAny(name, ";'\""), strings.HasPrefix(value, "{"):
			return nil, false, true, fmt.Errorf("%w that cannot be read: %s", ErrADO, quoting)
		case twice:
			return nil, false, true, fmt.Errorf("%w with a setting that is given twice: %s", ErrADO, quoting)
		}
		settings[canonical], text, unknown = value, behind, unknown || !known
	}
	return settings, unknown, len(settings) > 0, nil
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
			return value, strings.TrimLeft(strings.Join(parts[i+1:], ""), blanks)
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
