package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// imageVariable names the maker's image without its tag, as the maker's documentation does.
const imageVariable = "PAWL_SQLSERVER_IMAGE"

// container is a server that ends with this process.
type container struct{ engine, id, url string }

// errNoServer is returned where nothing can be tested on.
var errNoServer = errors.New(variable + " is not set, and not both " + imageVariable + " and docker or podman are here (docs/sqlserver.md)")

// start starts the maker's container and waits until it takes logins. Whoever runs it accepts the maker's licence, as
// the image asks for.
func start(ctx context.Context, version string) (*container, error) {
	engine, image := containerEngine(ctx), os.Getenv(imageVariable)
	if engine == "" || image == "" {
		return nil, errNoServer
	}
	password := "p1A-" + rand.Text()
	run := exec.CommandContext(ctx, engine, "run", "--detach", "--rm", "--publish", "127.0.0.1::1433", "--env", "ACCEPT_EULA=Y", "--env", "MSSQL_PID=Developer", "--env", "MSSQL_SA_PASSWORD", image+":"+version+"-latest")
	run.Env, run.Stderr = append(os.Environ(), "MSSQL_SA_PASSWORD="+password), os.Stderr
	out, err := run.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", engine, err)
	}
	c := &container{engine: engine, id: strings.TrimSpace(string(out))}
	if err := c.await(ctx, password); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// containerEngine is the first engine that answers.
func containerEngine(ctx context.Context) string {
	for _, name := range []string{"docker", "podman"} {
		if exec.CommandContext(ctx, name, "info").Run() == nil {
			return name
		}
	}
	return ""
}

// pollInterval is how often a server that starts is asked whether it has.
const pollInterval = time.Second

func (c *container) await(ctx context.Context, password string) error {
	out, err := exec.CommandContext(ctx, c.engine, "port", c.id, "1433/tcp").Output()
	if err != nil {
		return fmt.Errorf("the container's port: %w", err)
	}
	address, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword("sa", password), Host: address, RawQuery: "database=master&TrustServerCertificate=true"}
	c.url = u.String()
	for {
		_, err := describeServer(ctx, c.url)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the container does not take logins: %w", err)
		case <-time.After(pollInterval):
		}
	}
}

// stop removes the container.
func (c *container) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), reachTimeout)
	defer cancel()
	if err := exec.CommandContext(ctx, c.engine, "rm", "--force", c.id).Run(); err != nil {
		return fmt.Errorf("container %s is left: %w", c.id, err)
	}
	return nil
}
