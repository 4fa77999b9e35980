package tdstest

import (
	"encoding/binary"
	"io"
)

// Types of messages.
const (
	batchMessage       = 0x01
	callMessage        = 0x03
	answerMessage      = 0x04
	attentionMessage   = 0x06
	transactionMessage = 0x0E
	loginMessage       = 0x10
	preloginMessage    = 0x12
)

// Bits of a packet's status.
const (
	lastPacket    = 0x01
	resetSession  = 0x08
	resetKeepTran = 0x10
)

const (
	// headerSize is that of a packet's header: type, status, length, process, number, window.
	headerSize = 8
	// packetSize is the longest packet that the server sends and asks for.
	packetSize = 4096
)

// message is what one side says: the contents of its packets, put together.
type message struct {
	kind  byte
	reset bool
	body  []byte
}

// readMessage reads packets up to the last one of a message.
func readMessage(from io.Reader) (*message, error) {
	m := &message{}
	for {
		var header [headerSize]byte
		if _, err := io.ReadFull(from, header[:]); err != nil {
			return nil, err
		}
		length := int(binary.BigEndian.Uint16(header[2:]))
		if length < headerSize {
			return nil, io.ErrUnexpectedEOF
		}
		start := len(m.body)
		m.body = append(m.body, make([]byte, length-headerSize)...)
		if _, err := io.ReadFull(from, m.body[start:]); err != nil {
			return nil, err
		}
		m.kind = header[0]
		m.reset = m.reset || header[1]&(resetSession|resetKeepTran) != 0
		if header[1]&lastPacket != 0 {
			return m, nil
		}
	}
}

// packets cuts an answer into packets. Without last the answer has no end: more is to come.
func packets(body []byte, last bool) (all []byte) {
	for number := byte(1); ; number++ {
		part := body[:min(len(body), packetSize-headerSize)]
		body = body[len(part):]
		status := byte(0)
		if len(body) == 0 && last {
			status = lastPacket
		}
		all = append(all, answerMessage, status)
		all = binary.BigEndian.AppendUint16(all, uint16(headerSize+len(part)))
		all = append(all, 0, 0, number, 0)
		all = append(all, part...)
		if len(body) == 0 {
			return all
		}
	}
}
