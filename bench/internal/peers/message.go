package peers

import (
	"bytes"
	"fmt"
	"strconv"
)

const (
	// Size is the length of a message's body in bytes.
	Size = 256

	bodyHead   = `{"order":"`
	bodyMiddle = `","text":"`
	digits     = 10
	bodyTail   = `"}`
)

// text fills a body up.
var text = bytes.Repeat([]byte("lorem "), Size)[:Size-len(bodyHead)-digits-len(bodyMiddle)-len(bodyTail)]

// task is a body as the value that peers with typed messages want. Its JSON is a body.
type task struct {
	Order string `json:"order"`
	Text  string `json:"text"`
}

// number is id as a body has it.
func number(id int64) string { return fmt.Sprintf("%0*d", digits, id) }

func newTask(id int64) task { return task{number(id), string(text)} }

// Bodies are texts of Size bytes, JSON as most payloads are, for messages of these ids.
func Bodies(ids []int64) [][]byte {
	all := make([]byte, 0, len(ids)*Size)
	bodies := make([][]byte, len(ids))
	for i, id := range ids {
		start := len(all)
		all = append(all, bodyHead...)
		all = fmt.Appendf(all, "%0*d", digits, id)
		all = append(all, bodyMiddle...)
		all = append(all, text...)
		all = append(all, bodyTail...)
		bodies[i] = all[start:len(all):len(all)]
	}
	return bodies
}

// Body is the text of one message.
func Body(id int64) []byte { return Bodies([]int64{id})[0] }

// ID reads the id from a body that Bodies made, also one that a database wrote with
// other spaces. Of another text it is 0, which no message has.
func ID(body []byte) int64 {
	const key = `"order"`
	at := bytes.Index(body, []byte(key))
	if at < 0 {
		return 0
	}
	body = body[at+len(key):]
	start := bytes.IndexByte(body, '"') + 1
	if len(body) < start+digits {
		return 0
	}
	return parse(string(body[start : start+digits]))
}

func parse(order string) int64 {
	id, err := strconv.ParseInt(order, 10, 64)
	if err != nil {
		return 0
	}
	return id
}
