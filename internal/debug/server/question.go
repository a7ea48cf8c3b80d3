package server

// KindAttach is the question of package tree that starts a server for each rank of a running job. Its body is an
// [AttachQuestion].
const KindAttach = "debug"

// An AttachQuestion starts servers that connect through the relays of the pass.
type AttachQuestion struct {
	Pass string `json:"pass"` // path of the pass
}
