package dbproxy

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
)

// What URLs of SQL Server have, and where one listens that names no port.
const (
	tdsScheme = "sqlserver"
	tdsPort   = "1433"
)

// Of packets of SQL Server's protocol, TDS.
const (
	tdsHeader      = 8
	tdsBatch       = 1 // kinds
	tdsCall        = 3
	tdsTransaction = 14
	tdsEnd         = 1 // status: of a message the last packet
	tdsCommit      = 7 // what is asked of a transaction
)

// tdsCommits reports whether a client's packet has a commit: by the protocol, or by text.
func tdsCommits(sent []byte) bool {
	if len(sent) < tdsHeader {
		return false
	}
	body := sent[tdsHeader:]
	if sent[0] == tdsTransaction && len(body) >= 4 {
		headers := uint64(binary.LittleEndian.Uint32(body)) // how long what precedes is
		return uint64(len(body)) >= headers+2 && binary.LittleEndian.Uint16(body[headers:]) == tdsCommit
	}
	return bytes.Contains(sent, utf16le("COMMIT TRANSACTION"))
}

func utf16le(text string) (b []byte) {
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// cutsAfter reports whether the answer to a client's packet is the one that is not to come. The
// server says nothing of a command by which it could be known.
func (p *Proxy) cutsAfter(sent []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	asks := sent[0] == tdsBatch || sent[0] == tdsCall
	if p.cutTag == "" || !p.commits(sent) && (p.cutTag == "COMMIT" || !asks) {
		return false
	}
	p.cutTag = ""
	return true
}

// tdsRead returns the next packet of a server, and PostgreSQL's kinds for it: Z for the last of an
// answer, D for any other.
func tdsRead(server io.Reader) (kind byte, packet []byte, err error) {
	header := make([]byte, tdsHeader)
	if _, err := io.ReadFull(server, header); err != nil {
		return 0, nil, err
	}
	packet = make([]byte, max(tdsHeader, int(binary.BigEndian.Uint16(header[2:]))))
	copy(packet, header)
	if _, err := io.ReadFull(server, packet[tdsHeader:]); err != nil {
		return 0, nil, err
	}
	if header[1]&tdsEnd != 0 {
		return 'Z', packet, nil
	}
	return 'D', packet, nil
}
