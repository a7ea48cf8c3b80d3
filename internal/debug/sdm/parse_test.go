package sdm

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/proxy"
)

func TestProcessSetsAreBits(t *testing.T) {
	for text, ranks := range map[string]string{"2:03": "0-1", "2:02": "1", "9:01ff": "0-8", "a:0201": "0,9"} {
		set, isSet := parseSet(text, 10)
		require.True(t, isSet, text)
		require.Equal(t, ranks, set.String())
	}
	require.Equal(t, "9:01ff", formatSet(debug.Ranks{{First: 0, Last: 8}}, 9))
	require.Equal(t, "a:0201", formatSet(debug.Ranks{{First: 0, Last: 0}, {First: 9, Last: 9}}, 10))
	for _, text := range []string{"", ":", "2", "2:", "2:00", "2:3", "2:07", "3:04", "x:03", "2:0g", "2:0003", "fffffffff:03", "ffffffff:03"} {
		_, isSet := parseSet(text, 2)
		require.False(t, isSet, text)
	}
}

func FuzzSet(f *testing.F) {
	for _, text := range []string{"2:03", "9:01ff", "0:", "10000:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if set, isSet := parseSet(text, debug.MostRanks); isSet {
			again, isSet := parseSet(formatSet(set, debug.MostRanks), debug.MostRanks)
			require.True(t, isSet)
			require.Equal(t, set, again)
		}
	})
}

func TestTheOptionsOfAllVersionsAreTaken(t *testing.T) {
	none := func(string) string { return "" }
	rank3 := func(name string) string { return map[string]string{"PMI_RANK": "3"}[name] }
	child2 := func(name string) string { return map[string]string{"MP_CHILD": "2"}[name] }
	for _, test := range []struct {
		words    string
		variable func(string) string
		expected Options
	}{
		{"--port=7 --host=h --debugger=gdb-mi", rank3, Options{Debugger: "gdb", Port: 7, Host: "h", Rank: 3, Routes: "routing_file"}},
		{"-b gdb-mi -e /gdb -P tcp -h h -p7", child2, Options{Debugger: "gdb", DebuggerPath: "/gdb", Port: 7, Host: "h", Rank: 2, Routes: "routing_file"}},
		{"-m --debug", none, Options{Debugger: "gdb", Port: 12345, IsMaster: true, Rank: -1, Routes: "routing_file", IsVerbose: true}},
		{"-master --debug=5", rank3, Options{Debugger: "gdb", Port: 12345, IsMaster: true, Rank: -1, Routes: "routing_file", IsVerbose: true}},
		{"--master --generate_routes=a,b --routing_file=routes_7", none, Options{Debugger: "gdb", Port: 12345, IsMaster: true, Rank: -1, Routes: "routes_7", Hosts: []string{"a", "b"}}},
		{"--server=0 --numprocs=4 -j 5", none, Options{Debugger: "gdb", Port: 12345, Routes: "routing_file"}},
		{"--server=0", rank3, Options{Debugger: "gdb", Port: 12345, Rank: 3, Routes: "routing_file"}},
		{"--server=0 --collect_routes", none, Options{Debugger: "gdb", Port: 12345, Routes: "routing_file", Collects: true}},
	} {
		o, err := ParseOptions(strings.Fields(test.words), test.variable)
		require.NoError(t, err, test.words)
		require.Equal(t, &test.expected, o, test.words)
	}
	for _, words := range []string{"", "--unknown", "-x", "--port=70000 --master", "--port", "--master=1", "file", "--debugger=dbx --master", "--proxy=stdio --master", "-", "--"} {
		_, err := ParseOptions(strings.Fields(words), none)
		require.Error(t, err, words)
	}
}

func FuzzOptions(f *testing.F) {
	f.Add("--port=7 -m -b gdb")
	f.Fuzz(func(_ *testing.T, words string) {
		_, _ = ParseOptions(strings.Fields(words), func(string) string { return "" })
	})
}

func TestFilesOfAddressesAreReadOnceComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routing_file")
	require.NoError(t, writeRoutes(path, []string{"n1", "n2"}))
	routes, err := awaitRoutes(t.Context(), path, isAny)
	require.NoError(t, err)
	require.Equal(t, "n1", routes[0].host)
	require.Equal(t, "n2", routes[1].host)
	routes, err = parseRoutes([]byte("2\n1 b 50001\n0 a 50000\n"))
	require.NoError(t, err)
	require.Equal(t, []route{{"a", 50000}, {"b", 50001}}, routes)
	for _, text := range []string{"", "2", "2\n0 a 5\n", "2\n0 a 5\n1 b 6"} {
		_, err := parseRoutes([]byte(text))
		require.ErrorIs(t, err, errIncomplete, text)
	}
	for _, text := range []string{"0\n", "x\n", "1\n0 a\n", "1\n1 a 5\n", "1\n0 a 0\n", "1\n0 a 70000\n", "2\n0 a 5\n0 b 6\n", "1\n0 a 5\n1 b 6\n", "99999999\n"} {
		_, err := parseRoutes([]byte(text))
		require.Error(t, err, text)
		require.NotErrorIs(t, err, errIncomplete, text)
	}
	require.Error(t, writeRoutes(path, []string{"a b"}))
}

func TestAMasterCollectsTheAddressesOfAllServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routing_file")
	collected := make(chan error, 1)
	go func() { collected <- collectRoutes(t.Context(), path) }()
	require.Error(t, announce(path, 2, 2, route{"n3", 50000}))
	require.NoError(t, announce(path, 1, 2, route{"n2", 50000}))
	require.NoError(t, announce(path, 0, 2, route{"n1", 50000}))
	require.NoError(t, <-collected)
	routes, err := readRoutes(path)
	require.NoError(t, err)
	require.Equal(t, "n1", routes[0].host)
	require.Equal(t, "n2", routes[1].host)
	require.NoFileExists(t, path+announcement+"0")
	_, err = awaitRoutes(canceled(), path, func(routes []route) bool { return routes[0].port != 50000 })
	require.ErrorIs(t, err, context.Canceled, "the file is of an earlier start")
	require.NoError(t, os.WriteFile(path+announcement+"0", []byte("x\n0 n1 5\n"), 0o600))
	require.ErrorContains(t, collectRoutes(t.Context(), path), "rank 0")
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func FuzzRoutes(f *testing.F) {
	f.Add([]byte("2\n0 a 50000\n1 b 50001\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if routes, err := parseRoutes(text); err == nil {
			require.NotEmpty(t, routes)
		}
	})
}

// The file with the secret is made once, and refused if others have access.
func TestTheSecretIsShared(t *testing.T) {
	routes := filepath.Join(t.TempDir(), "routing_file")
	secret, err := shareSecret(routes)
	require.NoError(t, err)
	again, err := shareSecret(routes)
	require.NoError(t, err)
	require.Equal(t, secret, again)
	require.NoError(t, os.Chmod(routes+secretSuffix, 0o644))
	_, err = shareSecret(routes)
	require.ErrorContains(t, err, "not a file of this user alone")
}

func TestValuesAreAIF(t *testing.T) {
	variable := func(typeName, text string, children ...value) value {
		v := value{Variable: debug.Variable{Name: "x", Type: typeName, Value: text}, children: children}
		if len(children) > 0 {
			v.Reference = 1
		}
		return v
	}
	named := func(name string, v value) value { v.Name = name; return v }
	for _, test := range []struct {
		value        value
		format, data string
	}{
		{variable("int", "-2"), "is4", "fffffffe"},
		{variable("const volatile unsigned short", "65535"), "iu2", "ffff"},
		{variable("long unsigned int", "18446744073709551615"), "iu8", "ffffffffffffffff"},
		{variable("short int", "7"), "is2", "0007"},
		{variable("uint32_t", "7"), "iu4", "00000007"},
		{variable("i64", "-1"), "is8", "ffffffffffffffff"},
		{variable("my_number", "7"), "is8", "0000000000000007"},
		{variable("my_double", "1.5"), "f8", "3ff8000000000000"},
		{variable("float", "1.5"), "f4", "3fc00000"},
		{variable("double", "-nan(0x8000000000000)"), "f8", "7ff8000000000001"},
		{variable("double", "inf"), "f8", "7ff0000000000000"},
		{variable("real(kind=4)", "1.5"), "f4", "3fc00000"},
		{variable("integer(kind=8)", "5"), "is8", "0000000000000005"},
		{variable("logical(kind=4)", ".TRUE."), "b1", "01"},
		{variable("bool", "false"), "b1", "00"},
		{variable("char", "97 'a'"), "c", "61"},
		{variable("signed char", "-1 '\\377'"), "c", "ff"},
		{variable("void", ""), "v0", ""},
		{variable("int", "<optimized out>"), "s", "000f" + hex.EncodeToString([]byte("<optimized out>"))},
		{variable("char *", `0x4010 "hi"`), "pa8", "0000000000004010" + "0004" + hex.EncodeToString([]byte(`"hi"`))},
		{variable("char *", "0x0"), "pa8", "00000000000000000000"},
		{variable("struct list *", "0x4010"), "^a8v0", "010000000000004010"},
		{variable("void (*)(int)", "0x4010 <f>"), "^a8v0", "010000000000004010"},
		{variable("double *", "0x0"), "^a8v0", "00"},
		{variable("char [4]", `"abc"`), "s", "0005" + hex.EncodeToString([]byte(`"abc"`))},
		{variable("int [2]", "", named("0", variable("int", "1")), named("1", variable("int", "2"))), "[r0..1is4]is4", "0000000100000002"},
		{variable("integer(kind=4) (2)", "", named("1", variable("integer(kind=4)", "5"))), "[r1..1is4]is4", "00000005"},
		{variable("int [2]", "", named("0", variable("int", "1")), named("1", variable("int", "<error>"))), "[r0..1is4]s", "000131" + "00073c6572726f723e"},
		{variable("struct s", "", named("a", variable("int", "1")), named("b", variable("char", "98 'b'"))), "{s|a=is4,b=c;;;}", "0000000162"},
		{variable("union u", "", named("a", variable("int", "1")), named("b", variable("char", "98 'b'"))), "(u|a=is4,b=c)", "0000000162"},
		{variable("std::pair<int, char>", "", named("first", variable("int", "1"))), "{std::pair_int_ char_|first=is4;;;}", "00000001"},
	} {
		found := test.value.encode()
		require.Equal(t, test.format, found.format, test.value.Type)
		require.Equal(t, test.data, hex.EncodeToString(found.data), test.value.Type)
	}
}

func FuzzValue(f *testing.F) {
	f.Add("int [2]", "{1, 2}", "0", "int", "1")
	f.Add("struct s *", "0x4010 <x>", "a", "char *", `0x1 "`)
	f.Fuzz(func(t *testing.T, typeName, text, childName, childType, childText string) {
		child := value{Variable: debug.Variable{Name: childName, Type: childType, Value: childText}}
		v := value{Variable: debug.Variable{Type: typeName, Value: text, Reference: 1}, children: []value{child, child}}
		for _, each := range []value{child, v, v.target()} {
			require.NotEmpty(t, each.encode().format)
		}
	})
}

// Whatever a client sends, the master answers and lives on.
func FuzzCommand(f *testing.F) {
	for id := range commands {
		f.Add(uint16(id), "2:03", "1", "0", "0", "app.c", "3", "", "0", "0")
	}
	f.Fuzz(func(t *testing.T, id uint16, a, b, c, d, e, g, h, i, j string) {
		client := startMaster(t, 2, play{codes: []int{0, 0}}.answer)
		client.start("2:03")
		if id != commandQuit {
			require.NoError(t, client.writer.Write(proxy.Frame{ID: id, Transaction: 2, Arguments: []string{a, b, c, d, e, g, h, i, j}}))
		}
		client.send(26, 3, "2:03", "SIGINT")
		for client.next().ID != eventSignals {
		}
	})
}
