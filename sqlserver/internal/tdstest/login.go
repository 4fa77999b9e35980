package tdstest

import "encoding/binary"

// Options of the message before the login.
const (
	preloginVersion    = 0
	preloginEncryption = 1
	preloginEnd        = 0xFF
)

// encryptionNotSupported is what the server says of encryption.
const encryptionNotSupported = 2

// serverVersion is the one of SQL Server 2016, the oldest that pawl works on.
var serverVersion = []byte{13, 0, 0x0F, 0xA1, 0, 0}

// preloginAnswer says which version the server has, and that it does not encrypt.
func preloginAnswer() []byte {
	const table = 5 + 5 + 1 // an option has five bytes
	var b []byte
	b = append(b, preloginVersion)
	b = binary.BigEndian.AppendUint16(b, table)
	b = binary.BigEndian.AppendUint16(b, uint16(len(serverVersion)))
	b = append(b, preloginEncryption)
	b = binary.BigEndian.AppendUint16(b, uint16(table+len(serverVersion)))
	b = binary.BigEndian.AppendUint16(b, 1)
	b = append(b, preloginEnd)
	b = append(b, serverVersion...)
	return append(b, encryptionNotSupported)
}

// tds74 is the protocol's version.
const tds74 = 0x74000004

// Identity is what a client says of itself when it logs in.
type Identity struct {
	TDSVersion                                          uint32
	Host, User, Password, App, Server, Client, Database string
}

// Where a login lists its texts: an offset and a length each.
const (
	loginHost     = 36
	loginUser     = 40
	loginPassword = 44
	loginApp      = 48
	loginServer   = 52
	loginClient   = 60
	loginDatabase = 68
)

// readLogin reads the message of a login.
func readLogin(body []byte) (*Identity, error) {
	r := &reader{b: body}
	text := func(entry int) []byte {
		r.at = min(entry, len(body))
		from, n := int(r.u16()), int(r.u16())
		r.at = min(from, len(body))
		return r.bytes(2 * n)
	}
	r.at = 4
	i := &Identity{TDSVersion: r.u32()}
	i.Host, i.User = fromUTF16(text(loginHost)), fromUTF16(text(loginUser))
	i.Password = fromUTF16(unmangle(text(loginPassword)))
	i.App, i.Server = fromUTF16(text(loginApp)), fromUTF16(text(loginServer))
	i.Client, i.Database = fromUTF16(text(loginClient)), fromUTF16(text(loginDatabase))
	return i, r.err
}

// unmangle undoes what a login does to the password: halves of bytes are swapped, then
// every byte is combined with A5.
func unmangle(b []byte) []byte {
	plain := make([]byte, len(b))
	for i, c := range b {
		c ^= 0xA5
		plain[i] = c<<4 | c>>4
	}
	return plain
}

// loginAnswer are the tokens that accept a login.
func loginAnswer(i *Identity) []byte {
	database := i.Database
	if database == "" {
		database = "master"
	}
	b := changeText(nil, changedDatabase, database, "master")
	b = changeBytes(b, changedCollation, collation, nil)
	b = changeText(b, changedPacketSize, "4096", "4096")
	return appendLoginAck(b)
}

func appendLoginAck(b []byte) []byte {
	const transactSQL = 1
	ack := []byte{transactSQL}
	ack = binary.BigEndian.AppendUint32(ack, tds74)
	ack = appendShortText(ack, "pawl tdstest")
	ack = append(ack, serverVersion[:4]...)
	b = append(b, loginAckToken)
	return append(le16(b, uint16(len(ack))), ack...)
}
