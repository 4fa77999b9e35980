package brokertest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill-redisstream/pkg/redisstream"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/redis/go-redis/v9"

	"github.com/bravellian/pawl/internal/test/apt"
)

// redisTool is a part of Debian's package redis-tools, which has the server's program under this
// name. The package redis-server would start a service of the machine.
const redisTool = "/usr/bin/redis-check-rdb"

// redisServer returns a path of the server's program. It is installed where it is missing; where it
// cannot be, the test fails.
func redisServer(t *testing.T, dir string) string {
	t.Helper()
	if path, err := exec.LookPath("redis-server"); err == nil {
		return path
	}
	if _, err := os.Stat(redisTool); err != nil {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := apt.Install(ctx, os.Stderr, "redis-tools"); err != nil {
			t.Fatalf("there is no redis-server here; install one: %v", err)
		}
	}
	path := filepath.Join(dir, "redis-server") // it is what it is called
	must(t, os.Symlink(redisTool, path))
	return path
}

// redisStreams keep every message that they get.
type redisStreams struct{ *server }

func newRedis(t *testing.T) broker {
	b := redisStreams{newServer(t)}
	b.args = []string{
		redisServer(t, b.dir), "--bind", "127.0.0.1", "--port", strconv.Itoa(b.port), "--dir", b.dir,
		"--appendonly", "yes", "--appendfsync", "always", "--save", "",
	}
	b.start(t)
	return b
}

func (redisStreams) deduplicates() bool { return false }

func (b redisStreams) client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: b.address()})
}

func (b redisStreams) publisher(t *testing.T) message.Publisher {
	t.Helper()
	p, err := redisstream.NewPublisher(redisstream.PublisherConfig{Client: b.client()}, nil)
	must(t, err)
	return p
}

func (b redisStreams) read(t *testing.T) (all []*message.Message) {
	t.Helper()
	client := b.client()
	defer func() { _ = client.Close() }()
	entries, err := client.XRange(t.Context(), topic, "-", "+").Result()
	must(t, err)
	for _, entry := range entries {
		w, err := redisstream.DefaultMarshallerUnmarshaller{}.Unmarshal(entry.Values)
		must(t, err)
		all = append(all, w)
	}
	return all
}
