package rendezvous

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// The kinds of frames.
const (
	kindHello     = "hello"     // of the process: version, ensemble, serial, nonce
	kindChallenge = "challenge" // nonce of the co-allocator
	kindProve     = "prove"     // of the process: proof, and what it wants
	kindAccepted  = "accepted"  // proof of the co-allocator, and the rank
	kindDenied    = "denied"    // wrong credentials of any kind
	kindLater     = "later"     // the co-allocator does not know the part yet
	kindRelease   = "release"
	kindReceived  = "received" // of the process: it has read the release
	kindAbort     = "abort"
	kindRefused   = "refused"
	kindPing      = "ping"
	kindPong      = "pong"
	kindStructure = "structure"
	kindSend      = "send"
	kindReceive   = "receive"
	kindExchange  = "exchange"
	kindReply     = "reply"
	kindForget    = "forget" // of the process: it gives up a request
)

// The purposes of connections.
const (
	purposeCheckIn = "check-in"
	purposeSession = "session"
)

// A frame is one message of the protocol. Its payload follows the header.
type frame struct {
	Kind     string `json:"kind"`
	Version  int    `json:"version,omitempty"`
	Ensemble string `json:"ensemble,omitempty"`
	Serial   int    `json:"serial,omitempty"`
	Nonce    []byte `json:"nonce,omitempty"`
	Proof    []byte `json:"proof,omitempty"`

	Purpose  string `json:"purpose,omitempty"`
	Instance string `json:"instance,omitempty"`
	Host     string `json:"host,omitempty"`
	HasRank  bool   `json:"hasRank,omitempty"`
	Rank     int    `json:"rank,omitempty"`
	Size     int    `json:"size,omitempty"` // 0: unknown
	No       bool   `json:"no,omitempty"`   // the vote
	Reason   string `json:"reason,omitempty"`

	ID       int64  `json:"id,omitempty"` // of a request and its reply
	Error    string `json:"error,omitempty"`
	Code     string `json:"code,omitempty"` // of Error
	Tag      string `json:"tag,omitempty"`
	Scope    string `json:"scope,omitempty"` // inter or intra
	To       int    `json:"to,omitempty"`
	HasFrom  bool   `json:"hasFrom,omitempty"`
	From     int    `json:"from,omitempty"`
	Arranged bool   `json:"arranged,omitempty"` // the rank was given by arrival

	payload []byte
}

// encode returns the bytes of a frame: the lengths of header and payload, then both.
func (f *frame) encode() ([]byte, error) {
	header, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(header) > mostHeader || len(f.payload) > mostPayload {
		return nil, fmt.Errorf("a %s has %d and %d bytes, more than %d or %d", f.Kind, len(header), len(f.payload), mostHeader, mostPayload)
	}
	encoded := make([]byte, 8, 8+len(header)+len(f.payload))
	binary.BigEndian.PutUint32(encoded, uint32(len(header)))
	binary.BigEndian.PutUint32(encoded[4:], uint32(len(f.payload)))
	return append(append(encoded, header...), f.payload...), nil
}

// readFrame reads a frame. It checks both lengths before it allocates.
func readFrame(source io.Reader, longestPayload int) (*frame, error) {
	var lengths [8]byte
	if _, err := io.ReadFull(source, lengths[:]); err != nil {
		return nil, err
	}
	header, payload := binary.BigEndian.Uint32(lengths[:]), binary.BigEndian.Uint32(lengths[4:])
	if header > mostHeader || int64(payload) > int64(longestPayload) {
		return nil, fmt.Errorf("a frame has %d and %d bytes, more than %d or %d", header, payload, mostHeader, longestPayload)
	}
	text := make([]byte, header)
	if _, err := io.ReadFull(source, text); err != nil {
		return nil, unexpected(err)
	}
	f := &frame{}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("a frame is not valid: %w", err)
	}
	if payload > 0 {
		f.payload = make([]byte, payload)
		if _, err := io.ReadFull(source, f.payload); err != nil {
			return nil, unexpected(err)
		}
	}
	return f, nil
}

// unexpected is the error of a stream that ends within a frame.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
