package blob_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/bravellian/pawl/blob"
)

// Large payloads in files, for pawl.Offload. Programs set Dir; pawl calls Put and Get.
func ExampleFiles() {
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store := &blob.Files{Dir: dir}

	ctx, key := context.Background(), "0191f7a2-5c1e-8f3a-9b1c-7d2e4f6a8b0c"
	if err := store.Put(ctx, key, []byte("a large report")); err != nil {
		log.Fatal(err)
	}
	data, err := store.Get(ctx, key)
	fmt.Println(string(data), err)
	// Output: a large report <nil>
}
