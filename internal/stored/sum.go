package stored

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"
	"time"
)

// Unsummed is the checksum of rows written by versions without checksums. No other row has it.
const Unsummed int64 = -1

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// buffers are reused for checksums: a listing computes one for each job.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Sum returns the checksum of a row, or of a part of one: its name, which distinguishes tables, and its
// values. They are pointers as for [Each], or Moments.
func Sum(name string, values ...any) int64 {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	buffer := appendText((*pooled)[:0], name)
	for _, value := range values {
		switch v := value.(type) {
		case *string:
			buffer = appendText(buffer, *v)
		case *[]byte:
			buffer = appendText(buffer, *v)
		case *int:
			buffer = binary.AppendVarint(buffer, int64(*v))
		case *time.Duration:
			buffer = binary.AppendVarint(buffer, int64(*v))
		case **int:
			buffer = appendOptional(buffer, *v)
		case *bool:
			buffer = appendBool(buffer, *v)
		case Moment:
			buffer = appendMoment(buffer, v)
		default:
			panic(fmt.Sprintf("a row has no values of type %T", value))
		}
	}
	*pooled = buffer
	return int64(crc32.Checksum(buffer, castagnoli()))
}

func appendText[Text string | []byte](buffer []byte, text Text) []byte {
	return append(binary.AppendUvarint(buffer, uint64(len(text))), text...)
}

func appendBool(buffer []byte, value bool) []byte {
	if value {
		return append(buffer, 1)
	}
	return append(buffer, 0)
}

func appendOptional(buffer []byte, value *int) []byte {
	buffer = appendBool(buffer, value != nil)
	if value != nil {
		buffer = binary.AppendVarint(buffer, int64(*value))
	}
	return buffer
}

// appendMoment appends seconds and nanoseconds, not the text, which takes longer to compose.
func appendMoment(buffer []byte, moment Moment) []byte {
	buffer = appendBool(buffer, moment.time.IsZero())
	if moment.time.IsZero() {
		return buffer
	}
	return binary.AppendVarint(binary.AppendVarint(buffer, moment.time.Unix()), int64(moment.time.Nanosecond()))
}

// ErrChecksum means that the checksum of a row does not match its values. It matches [ErrDamaged].
var ErrChecksum = fmt.Errorf("%w: a checksum does not match", ErrDamaged)

// Verify returns [ErrChecksum] unless sum is the checksum of a row. Rows without a checksum pass.
func Verify(sum int64, name string, values ...any) error {
	if sum == Unsummed || sum == Sum(name, values...) {
		return nil
	}
	return ErrChecksum
}
