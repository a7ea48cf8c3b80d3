package dap

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/debug"
)

const mostBytes = 64 << 10 // in one request

// memory reads or writes memory by commands of lldb, in which only the numbers vary.
func (lldb) memory(ctx context.Context, e *Engine, frame int, request debug.Request) (string, error) {
	body, err := e.computeIn(ctx, frame, request.Text)
	if err != nil {
		return "", err
	}
	address, err := addressIn(body.Result)
	if err != nil {
		return "", err
	}
	if request.Value != "" {
		return "", write(ctx, e, frame, address, request.Value)
	}
	if request.Count < 1 || request.Count > mostBytes {
		return "", refusal{fmt.Sprintf("the number of bytes must be from 1 to %d", mostBytes)}
	}
	printed, err := e.command(ctx, frame, fmt.Sprintf("memory read --force --format x --size 1 --num-per-line 64 --count %d 0x%x", request.Count, address))
	if err != nil {
		return "", err
	}
	var digits strings.Builder
	for line := range strings.Lines(printed) {
		_, values, isThere := strings.Cut(line, ": ")
		if !isThere || !strings.HasPrefix(line, "0x") {
			continue
		}
		for word := range strings.FieldsSeq(values) {
			if byte, isByte := strings.CutPrefix(word, "0x"); isByte && len(byte) == 2 {
				digits.WriteString(byte)
			}
		}
	}
	if digits.Len() == 0 {
		return "", refusal{printed}
	}
	return digits.String(), nil
}

func write(ctx context.Context, e *Engine, frame int, address uint64, value string) error {
	bytes, err := hex.DecodeString(value)
	if err != nil || len(bytes) > mostBytes {
		return refusal{"the value must be pairs of hexadecimal digits"}
	}
	var command strings.Builder
	fmt.Fprintf(&command, "memory write --size 1 0x%x", address)
	for _, each := range bytes {
		fmt.Fprintf(&command, " 0x%02x", each)
	}
	printed, err := e.command(ctx, frame, command.String())
	if err == nil && strings.Contains(printed, "error:") {
		return refusal{printed}
	}
	return err
}

// addressIn returns the number at the beginning of a value such as 0x00007ffd "text".
func addressIn(value string) (uint64, error) {
	first, _, _ := strings.Cut(strings.TrimSpace(value), " ")
	address, err := strconv.ParseUint(first, 0, 64)
	if err != nil {
		return 0, refusal{"invalid address: " + bounded(value)}
	}
	return address, nil
}
