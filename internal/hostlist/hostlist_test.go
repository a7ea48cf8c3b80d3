package hostlist

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListsOfNodesInAllFormats(t *testing.T) {
	for list, names := range map[string][]string{
		"":                                nil,
		"n1":                              {"n1"},
		"n[1-3,7]":                        {"n1", "n2", "n3", "n7"},
		"n[008-010],gpu":                  {"n008", "n009", "n010", "gpu"},
		"r[1-2]n[0-1]":                    {"r1n0", "r1n1", "r2n0", "r2n1"},
		"n[a,3]x":                         {"nax", "n3x"},
		"node1/0*4+node2/1":               {"node1", "node2"},
		"4*hosta:hostb":                   {"hosta", "hostb"},
		"n1.example.org n2":               {"n1.example.org", "n2"},
		strings.Repeat("[1-2]", 9):        nil,
		strings.Repeat("x", 256):          nil,
		"n[1-2":                           nil,
		"n[1-999999999999999999][":        nil,
		"n[1-999999999999999999][3-1]":    nil,
		"n[00000000000000000000000001-2]": nil,
	} {
		var read []string
		Each(list, func(name string) bool {
			read = append(read, name)
			return true
		})
		require.Equal(t, names, read, list)
	}
}

func TestReadingALongListOfNodesCanBeStopped(t *testing.T) {
	var read []string
	Each("n[1-999999999999],m", func(name string) bool {
		read = append(read, name)
		return len(read) < 3
	})
	require.True(t, slices.Equal([]string{"n1", "n2", "n3"}, read))
}

func TestNamesFindsNodesInAList(t *testing.T) {
	nobody := func(string) bool { return false }
	random := rand.New(rand.NewPCG(7, 9))
	names := map[string]bool{}
	for range 300 {
		list := randomHostList(random)
		listed := map[string]bool{}
		Each(list, func(name string) bool {
			listed[name] = true
			return true
		})
		maps.Copy(names, listed)
		for name := range names {
			if !strings.Contains(list, ".") || listed[name] {
				require.Equal(t, listed[name], Names(list, name, nobody), "%s in %s", name, list)
			}
		}
		for len(names) > 100 {
			for name := range names {
				delete(names, name)
				break
			}
		}
	}
	isNode := func(name string) bool { return name == "n1.far" }
	require.True(t, Names("n[1-2].near", "n1", isNode), "some name hosts with their domain")
	require.False(t, Names("n[1-2].far", "n1", isNode), "that is another node")
	require.False(t, Names("n[1-2].far", "n", isNode))
}

// randomHostList returns a list of nodes as schedulers might write it.
func randomHostList(random *rand.Rand) string {
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	pattern := func() string {
		text := pick("n", "rack", "")
		for range random.IntN(3) {
			first := random.IntN(12)
			spelling := fmt.Sprintf(pick("%d", "%02d", "%03d"), first)
			text += "[" + pick("", "a,", "0,", "11,") + spelling + pick("", fmt.Sprintf("-%d", first+random.IntN(40)), fmt.Sprintf("-%03d", first+random.IntN(5))) + "]" + pick("", "x", "1")
		}
		return pick("", "", "4*") + text + pick("", "", "", "1", ".domain") + pick("", "", "/0*2")
	}
	list := pattern()
	for range random.IntN(3) {
		list += pick(",", "+", " ", ":") + pattern()
	}
	return list
}

func TestHostileListsOfNodesAreCheap(t *testing.T) {
	left := mostSteps
	require.False(t, stands(strings.Repeat("["+strings.Repeat("1,", 5000)+"1]", 8)+"x", strings.Repeat("1", 8), &left))
	require.Negative(t, left, "it was given up")
}
