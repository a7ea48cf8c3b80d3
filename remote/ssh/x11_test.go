package ssh

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/rmctl/rmctl/remote/internal/channel"
)

// firstPacket is what an X11 client sends first.
func firstPacket(order binary.ByteOrder, name string, cookie []byte) []byte {
	packet := []byte{'B', 0}
	if order == binary.LittleEndian {
		packet[0] = 'l'
	}
	packet = append(packet, make([]byte, 10)...)
	order.PutUint16(packet[2:], 11)
	order.PutUint16(packet[6:], uint16(len(name)))
	order.PutUint16(packet[8:], uint16(len(cookie)))
	packet = append(packet, name...)
	packet = append(packet, make([]byte, padded(len(name))-len(name))...)
	packet = append(packet, cookie...)
	return append(packet, make([]byte, padded(len(cookie))-len(cookie))...)
}

func TestTheRealCookieReplacesThePretendedOne(t *testing.T) {
	d := &display{cookie: []byte("0123456789abcdef"), pretended: []byte("ABCDEFGHIJKLMNOP")}
	for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
		var passed bytes.Buffer
		require.NoError(t, d.introduce(bytes.NewReader(firstPacket(order, cookieProtocol, d.pretended)), &passed))
		require.Equal(t, firstPacket(order, cookieProtocol, d.cookie), passed.Bytes())
	}
	for name, packet := range map[string][]byte{
		"nothing":       nil,
		"cut":           firstPacket(binary.BigEndian, cookieProtocol, d.pretended)[:40],
		"another":       firstPacket(binary.BigEndian, cookieProtocol, d.cookie),
		"none":          firstPacket(binary.BigEndian, "", nil),
		"other name":    firstPacket(binary.BigEndian, "XDM-AUTHORIZATION1", d.pretended),
		"no X protocol": []byte("GET / HTTP/1.1\r\n\r\n"),
	} {
		var passed bytes.Buffer
		require.Error(t, d.introduce(bytes.NewReader(packet), &passed), name)
		require.Zero(t, passed.Len(), name)
	}
}

func FuzzIntroduceX11(f *testing.F) {
	d := &display{cookie: []byte("0123456789abcdef"), pretended: []byte("ABCDEFGHIJKLMNOP")}
	f.Add(firstPacket(binary.BigEndian, cookieProtocol, d.pretended))
	f.Add(firstPacket(binary.LittleEndian, cookieProtocol, nil))
	f.Add([]byte("l\x00\xff\xff\x00\x00\xff\xff\xff\xff\x00\x00"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		var passed bytes.Buffer
		if d.introduce(bytes.NewReader(packet), &passed) == nil {
			require.Contains(t, passed.String(), string(d.cookie))
			require.Contains(t, string(packet), string(d.pretended))
		}
	})
}

func TestDisplaysAreUnderstood(t *testing.T) {
	for name, want := range map[string]display{
		":0":                          {network: "unix", address: "/tmp/.X11-unix/X0"},
		"unix:1.2":                    {network: "unix", address: "/tmp/.X11-unix/X1", screen: 2},
		"localhost:10.0":              {network: "tcp", address: "localhost:6010"},
		"[::1]:3":                     {network: "tcp", address: "[::1]:6003"},
		"/private/tmp/launch/org.x:0": {network: "unix", address: "/private/tmp/launch/org.x:0"},
	} {
		got, err := parseDisplay(name)
		require.NoError(t, err)
		require.Equal(t, want, *got)
	}
	for _, name := range []string{"", "0", ":", ":x", ":0.x", ":99999"} {
		_, err := parseDisplay(name)
		require.Error(t, err, name)
	}
}

// showDisplay sets DISPLAY to one that hands what a client sends to the test,
// and returns the line of ssh_config that finds its cookie.
func showDisplay(t *testing.T, p place, cookie []byte) (line string, shown chan []byte) {
	var listener net.Listener
	number := 100
	for ; listener == nil; number++ {
		require.Less(t, number, 1000, "no port of a display is free")
		listener, _ = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(6000+number))
	}
	number--
	shown = make(chan []byte)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			packet := make([]byte, len(firstPacket(binary.BigEndian, cookieProtocol, cookie)))
			_, _ = io.ReadFull(client, packet)
			_, _ = io.WriteString(client, "welcome")
			client.Close()
			shown <- packet
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	t.Setenv("DISPLAY", fmt.Sprintf("127.0.0.1:%d", number))
	syscall.ForkLock.RLock() // a child that was forked meanwhile would hold the file open
	defer syscall.ForkLock.RUnlock()
	xauth := p.write("xauth", fmt.Sprintf("#!/bin/sh\necho 'host:%d  %s  %s'\n", number, cookieProtocol, hex.EncodeToString(cookie)))
	require.NoError(t, os.Chmod(xauth, 0o700))
	return "XAuthLocation " + xauth, shown
}

func TestX11ClientsReachTheDisplay(t *testing.T) {
	cookie := []byte("0123456789abcdef")
	p := newPlace(t)
	line, shown := showDisplay(t, p, cookie)
	requests := make(chan *ssh.Request, 10)
	connections := make(chan ssh.Conn, 1)
	s := serve(t, &server{requests: requests, connects: func(c ssh.Conn) { connections <- c }})
	p.knows(s.port, "host")
	client := dialled(t, p.options(s.port, line))
	require.Zero(t, run(t, client, "true", channel.Options{ForwardX11: true}, "").code)
	require.Zero(t, run(t, client, "true", channel.Options{ForwardX11: true}, "").code, "a second command has it too")

	request := <-requests
	require.Equal(t, "x11-req", request.Type)
	var asked struct {
		Single           bool
		Protocol, Cookie string
		Screen           uint32
	}
	require.NoError(t, ssh.Unmarshal(request.Payload, &asked))
	require.NotEqual(t, hex.EncodeToString(cookie), asked.Cookie, "the real cookie stays here")
	pretended, err := hex.DecodeString(asked.Cookie)
	require.NoError(t, err)

	opened, rest, err := (<-connections).OpenChannel("x11", nil)
	require.NoError(t, err)
	go ssh.DiscardRequests(rest)
	_, err = opened.Write(firstPacket(binary.BigEndian, asked.Protocol, pretended))
	require.NoError(t, err)
	require.Equal(t, firstPacket(binary.BigEndian, cookieProtocol, cookie), <-shown)
	answer, err := io.ReadAll(opened)
	require.NoError(t, err)
	require.Equal(t, "welcome", string(answer))
}

func TestX11ClientsGoToTheDisplayOfTheLastLogin(t *testing.T) {
	p := newPlace(t)
	line, _ := showDisplay(t, p, []byte("0123456789abcdef"))
	requests := make(chan *ssh.Request, 10)
	connections := make(chan ssh.Conn, 1)
	s := serve(t, &server{requests: requests, connects: func(c ssh.Conn) { connections <- c }})
	p.knows(s.port, "host")
	client := dialled(t, p.options(s.port, line))
	require.Zero(t, run(t, client, "true", channel.Options{ForwardX11: true}, "").code)
	cookie := []byte("fedcba9876543210")
	_, shown := showDisplay(t, p, cookie) // its xauth replaces the one before
	require.Zero(t, run(t, client, "true", channel.Options{ForwardX11: true}, "").code)

	connection := <-connections
	for range 2 { // what either command got is good
		request := <-requests
		for request.Type != "x11-req" {
			request = <-requests
		}
		var asked struct {
			Single           bool
			Protocol, Cookie string
			Screen           uint32
		}
		require.NoError(t, ssh.Unmarshal(request.Payload, &asked))
		pretended, err := hex.DecodeString(asked.Cookie)
		require.NoError(t, err)
		opened, rest, err := connection.OpenChannel("x11", nil)
		require.NoError(t, err)
		go ssh.DiscardRequests(rest)
		_, err = opened.Write(firstPacket(binary.BigEndian, asked.Protocol, pretended))
		require.NoError(t, err)
		require.Equal(t, firstPacket(binary.BigEndian, cookieProtocol, cookie), <-shown)
	}
}

func TestWithoutX11TheReasonIsShown(t *testing.T) {
	p := newPlace(t)
	line, _ := showDisplay(t, p, []byte("0123456789abcdef"))
	refusing := serve(t, &server{refuses: []string{"x11-req"}})
	p.knows(refusing.port, "host")
	open := func(lines ...string) error {
		_, err := dialled(t, p.options(refusing.port, lines...)).Open(t.Context(), "true", channel.Options{ForwardX11: true})
		return err
	}
	require.ErrorContains(t, open(line), "the server of place refuses to forward X11 (X11Forwarding)")
	require.ErrorContains(t, open("XAuthLocation "+p.path("absent")), "asking "+p.path("absent")+" for the cookie")
	require.ErrorContains(t, open("XAuthLocation true"), "true has no MIT-MAGIC-COOKIE-1 for the display")
	t.Setenv("DISPLAY", "")
	require.ErrorContains(t, open(line), "no display: DISPLAY is not set")
}

func TestX11ReachesTheDisplayFromARealServer(t *testing.T) {
	directory := startSshd(t)
	p := newPlace(t)
	line, shown := showDisplay(t, p, []byte("0123456789abcdef"))
	config := p.write("config", fmt.Sprintf("Host *\n%s\nInclude %s/client/config\n", line, directory))
	client := dialled(t, Options{Host: "rmtest-target", ConfigFile: config})
	// An X11 client made of bash: it finds its cookie with xauth, as all do.
	script := `number=${DISPLAY#*:}; number=${number%.*}
cookie=$(xauth list "$DISPLAY" | sed 's/.* //; s/../\\x&/g; q')
exec 3<>/dev/tcp/127.0.0.1/$((6000 + number))
printf "B\0\0\x0b\0\0\0\x12\0\x10\0\0MIT-MAGIC-COOKIE-1\0\0$cookie" >&3
cat <&3`
	command := "bash -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'"
	// In the first session of a user, sshd says on its error stream that there is no file for cookies yet.
	run(t, client, "true", channel.Options{ForwardX11: true}, "")
	packet := make(chan []byte, 1)
	go func() { packet <- <-shown }()
	require.Equal(t, result{"welcome", "", 0}, run(t, client, command, channel.Options{ForwardX11: true}, ""))
	require.Contains(t, string(<-packet), "0123456789abcdef")
}
