package elffile_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/elffile"
)

// encode returns a file with two segments, the second one with a note.
func encode(t testing.TB, is64 bool, order binary.ByteOrder, number uint16) []byte {
	t.Helper()
	var file bytes.Buffer
	write := func(values ...any) {
		for _, value := range values {
			require.NoError(t, binary.Write(&file, order, value))
		}
	}
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	if order == binary.BigEndian {
		ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	note := []byte("note")
	if is64 {
		ident[elf.EI_CLASS] = byte(elf.ELFCLASS64)
		const segments, sections, content = 64, 64 + 2*56, 64 + 2*56 + 64
		write(elf.Header64{Ident: ident, Type: uint16(elf.ET_CORE), Version: 1, Phoff: segments, Shoff: sections, Ehsize: 64, Phentsize: 56, Phnum: number, Shentsize: 64, Shnum: 1},
			elf.Prog64{Type: uint32(elf.PT_LOAD), Off: content, Vaddr: 1 << 40, Filesz: 5, Memsz: 100}, elf.Prog64{Type: uint32(elf.PT_NOTE), Off: content + 5, Filesz: 24}, elf.Section64{Info: 2})
	} else {
		const segments, sections, content = 52, 52 + 2*32, 52 + 2*32 + 40
		write(elf.Header32{Ident: ident, Type: uint16(elf.ET_CORE), Version: 1, Phoff: segments, Shoff: sections, Ehsize: 52, Phentsize: 32, Phnum: number, Shentsize: 40, Shnum: 1},
			elf.Prog32{Type: uint32(elf.PT_LOAD), Off: content, Vaddr: 1 << 30, Filesz: 5, Memsz: 100}, elf.Prog32{Type: uint32(elf.PT_NOTE), Off: content + 5, Filesz: 24}, elf.Section32{Info: 2})
	}
	write([]byte("hello"), uint32(3), uint32(len(note)), uint32(7), []byte("me\x00\x00"), note, []byte("rest"))
	return file.Bytes()
}

func TestSegmentsMatchTheStandardLibrary(t *testing.T) {
	for _, is64 := range []bool{false, true} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, number := range []uint16{2, 0xffff} { // with very many segments, a section has their number
				content := encode(t, is64, order, number)
				file, err := elffile.Read(bytes.NewReader(content))
				require.NoError(t, err)
				require.True(t, file.IsCore)
				require.Len(t, file.Segments, 2)
				if number == 2 {
					requireSame(t, content)
				}
				var notes []string
				file.Notes(func(name string, kind uint32, content []byte) {
					require.EqualValues(t, 7, kind)
					notes = append(notes, name+": "+string(content))
				})
				require.Equal(t, []string{"me: note"}, notes)
			}
		}
	}
	self, err := os.Executable()
	require.NoError(t, err)
	content, err := os.ReadFile(self)
	require.NoError(t, err)
	requireSame(t, content)
}

// requireSame compares with package debug/elf.
func requireSame(t *testing.T, content []byte) {
	t.Helper()
	file, err := elffile.Read(bytes.NewReader(content))
	require.NoError(t, err)
	want, err := elf.NewFile(bytes.NewReader(content))
	require.NoError(t, err)
	require.Equal(t, want.Type == elf.ET_CORE, file.IsCore)
	require.Len(t, file.Segments, len(want.Progs))
	for i, segment := range file.Segments {
		prog := want.Progs[i]
		require.Equal(t, [3]uint64{uint64(prog.Type), prog.Vaddr, prog.Filesz}, [3]uint64{uint64(segment.Type), segment.Address, segment.Size})
		wantBytes, err := io.ReadAll(prog.Open())
		require.NoError(t, err)
		actual, err := io.ReadAll(io.NewSectionReader(segment, 0, int64(segment.Size)))
		require.NoError(t, err)
		require.Equal(t, wantBytes, actual)
	}
}

func FuzzFiles(f *testing.F) {
	for _, is64 := range []bool{false, true} {
		f.Add(encode(f, is64, binary.LittleEndian, 2))
		f.Add(encode(f, is64, binary.BigEndian, 0xffff))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := elffile.Read(bytes.NewReader(content))
		if err != nil {
			return
		}
		file.Notes(func(_ string, _ uint32, note []byte) { require.LessOrEqual(t, len(note), len(content)) })
		for _, segment := range file.Segments {
			_, _ = segment.ReadAt(make([]byte, 8), 0)
		}
	})
}
