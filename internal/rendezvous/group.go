package rendezvous

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// A Peer is a part of the group.
type Peer struct {
	Address   int    `json:"address"` // opaque
	Index     int    `json:"index"`
	Label     string `json:"label"`
	Size      int    `json:"size"`      // processes
	FirstRank int    `json:"firstRank"` // of its first process among those of all parts
	Host      string `json:"host,omitempty"`
}

// A Structure is the group as a process sees it.
type Structure struct {
	Joined bool   `json:"joined"` // the part is in the group
	Rank   int    `json:"rank"`   // of the process in its part
	Own    Peer   `json:"own"`
	Others []Peer `json:"others"` // in the order of their indices
	World  int    `json:"world"`  // processes of all parts
}

// Information is what a part gave to an exchange.
type Information struct {
	Peer
	Data  []byte `json:"data"`
	Ended bool   `json:"ended,omitempty"` // the part ended before it gave anything
}

// mostRounds bounds the exchanges of an ensemble.
const mostRounds = 1000

func newGroup(s *Server) *group {
	return &group{server: s, rounds: map[round]map[*part][]byte{}, next: map[string]int{}}
}

// A group is the parts that exchange messages. The mutex of the server guards it.
type group struct {
	server  *Server
	parts   []*part // in the order of their indices
	rounds  map[round]map[*part][]byte
	next    map[string]int // numbers of rounds without names, by instance
	waiting []exchangeWaiter
}

// A round is one exchange. Those without names have numbers.
type round struct {
	name   string
	number int
}

// An exchangeWaiter is a process that waits for the end of a round.
type exchangeWaiter struct {
	link  *link
	id    int64
	round round
}

func (g *group) has(p *part) bool { return g != nil && slices.Contains(g.parts, p) }

// peers describes all parts.
func (g *group) peers() []Peer {
	peers, first := make([]Peer, 0, len(g.parts)), 0
	for _, p := range g.parts {
		peer := Peer{Address: g.server.key.address(p.Serial), Index: p.Index, Label: p.Label, Size: p.Count, FirstRank: first}
		if lead := p.members[0]; lead != nil {
			peer.Host = lead.host
		}
		peers = append(peers, peer)
		first += p.Count
	}
	return peers
}

// structure describes the group to a process.
func (g *group) structure(l *link) Structure {
	own := Peer{Address: l.server.key.address(l.part.Serial), Index: l.part.Index, Label: l.part.Label, Size: l.part.Count}
	described := Structure{Rank: l.rank, Own: own, Others: []Peer{}, World: l.part.Count}
	if !g.has(l.part) {
		return described
	}
	described.Joined, described.World = true, 0
	for i, peer := range g.peers() {
		described.World += peer.Size
		if g.parts[i] == l.part {
			described.Own = peer
		} else {
			described.Others = append(described.Others, peer)
		}
	}
	return described
}

// find returns the part with an address.
func (g *group) find(address int) *part {
	if g == nil {
		return nil
	}
	for _, p := range g.parts {
		if g.server.key.address(p.Serial) == address {
			return p
		}
	}
	return nil
}

// exchange joins the next round of a process. The first process of a part gives the data.
func (g *group) exchange(l *link, f *frame) *frame {
	switch {
	case !g.has(l.part):
		return refusal(f, codeNotJoined, "the part is not in the group")
	case len(f.Tag) > mostTag:
		return refusal(f, codeTooLong, fmt.Sprintf("a name has at most %d bytes", mostTag))
	case l.rank != 0 && len(f.payload) > 0:
		return refusal(f, codeRank, "only rank 0 gives data to an exchange")
	}
	this := round{f.Tag, 0}
	if result, isKept := g.server.exchanged[f.Tag]; isKept && g.rounds[this] == nil {
		return &frame{Kind: kindReply, ID: f.ID, payload: result} // of an earlier server
	}
	if f.Tag == "" {
		this.number = g.next[l.instance]
	}
	if refused := g.give(l, f, this); refused != nil {
		return refused
	}
	if f.Tag == "" {
		g.next[l.instance]++
	}
	g.waiting = append(g.waiting, exchangeWaiter{l, f.ID, this})
	g.finish()
	return nil
}

// give keeps the data of a part. The first of a round counts.
func (g *group) give(l *link, f *frame, this round) *frame {
	given := g.rounds[this]
	if given == nil {
		if len(g.rounds) >= mostRounds {
			return refusal(f, codeFull, "earlier exchanges have to end before another one begins")
		}
		given = map[*part][]byte{}
		g.rounds[this] = given
	}
	if l.rank != 0 {
		return nil
	}
	switch earlier, isGiven := given[l.part]; {
	case isGiven && !bytes.Equal(earlier, f.payload):
		return refusal(f, codeInvalid, "the part has already given other data to this exchange")
	case isGiven:
		return nil
	case g.server.kept+len(f.payload) > mostKept:
		return refusal(f, codeFull, "earlier exchanges have to end before another one begins")
	}
	given[l.part] = f.payload
	g.server.kept += len(f.payload)
	return nil
}

// finish answers the processes that wait for complete rounds.
func (g *group) finish() {
	if g == nil {
		return
	}
	results := map[round]*frame{} // thousands of processes get the same
	g.waiting = slices.DeleteFunc(g.waiting, func(w exchangeWaiter) bool {
		result := results[w.round]
		if result == nil {
			if !g.isComplete(w.round) {
				return false
			}
			if result = g.resultOf(w.round); !g.server.keepExchange(w.round.name, result) {
				return false
			}
			results[w.round] = result
		}
		answer := *result
		answer.ID = w.id
		g.server.send(w.link, &answer)
		return true
	})
}

func (g *group) isComplete(r round) bool {
	for _, p := range g.parts {
		if _, isGiven := g.rounds[r][p]; !isGiven && !p.hasEnded {
			return false
		}
	}
	return true
}

func (g *group) resultOf(r round) *frame {
	all := make([]Information, 0, len(g.parts))
	for i, peer := range g.peers() {
		data, isGiven := g.rounds[r][g.parts[i]]
		all = append(all, Information{Peer: peer, Data: data, Ended: !isGiven})
	}
	return replyWith(0, all)
}

// forget removes a request of a process that gives up, and reports whether there was one.
func (g *group) forget(l *link, id int64) bool {
	before := len(g.waiting)
	g.waiting = slices.DeleteFunc(g.waiting, func(w exchangeWaiter) bool { return w.link == l && w.id == id })
	return len(g.waiting) < before
}

// forgetAll removes all requests of a connection.
func (g *group) forgetAll(l *link) {
	g.waiting = slices.DeleteFunc(g.waiting, func(w exchangeWaiter) bool { return w.link == l })
}

// endPart drops the messages for a part whose job has ended.
func (s *Server) endPart(p *part) (dropped int) {
	p.hasEnded = true
	for _, b := range p.boxes {
		dropped += len(b.messages)
		s.kept -= b.bytes
		b.messages, b.bytes = nil, 0
	}
	s.group.finish()
	return dropped
}

// replyWith returns the reply to a request, with a value as JSON.
func replyWith(id int64, value any) *frame {
	payload, err := json.Marshal(value)
	switch {
	case err != nil:
		return &frame{Kind: kindReply, ID: id, Error: err.Error(), Code: codeTooLong}
	case len(payload) > mostPayload:
		return &frame{Kind: kindReply, ID: id, Error: "the answer is too long", Code: codeTooLong}
	}
	return &frame{Kind: kindReply, ID: id, payload: payload}
}
