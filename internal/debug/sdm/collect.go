package sdm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/debug"
)

// announcement follows the name of the file of addresses, for the file in which a server writes its address.
const announcement = ".server-"

// longestAnnouncement bounds such a file, in bytes.
const longestAnnouncement = longestHost + 64

// announce writes the address of a rank's server, for a master that collects the addresses.
func announce(routes string, rank, size int, at route) error {
	if rank >= size {
		return fmt.Errorf("rank %d of %d ranks", rank, size)
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, size)
	fmt.Fprintln(&text, rank, at.host, at.port)
	return replaceFile(routes+announcement+strconv.Itoa(rank), text.Bytes())
}

// collectRoutes waits until all servers have said where they are, and writes the file of addresses. It waits for as long as their job.
func collectRoutes(ctx context.Context, path string) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		lines, size, err := readAnnouncements(path)
		if err != nil {
			return err
		}
		if size > 0 && len(lines) == size {
			text := strconv.Itoa(size) + "\n" + strings.Join(lines, "\n") + "\n"
			return errors.Join(replaceFile(path, []byte(text)), removeAnnouncements(path))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// readAnnouncements returns the lines of the servers that have said where they are, and how many servers there will be.
func readAnnouncements(path string) (lines []string, size int, err error) {
	_, _ = os.ReadDir(filepath.Dir(path)) // network file systems show new files after that only
	for rank := 0; rank == 0 || rank < size; rank++ {
		file, err := os.Open(path + announcement + strconv.Itoa(rank))
		if err != nil {
			return lines, size, nil // not yet
		}
		text, err := io.ReadAll(io.LimitReader(file, longestAnnouncement))
		_ = file.Close() // it was read
		if err != nil {
			return nil, 0, err
		}
		first, line, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n")
		count, countErr := strconv.ParseUint(first, 10, 31)
		if _, _, err = parseRoute(line); err != nil || countErr != nil || count == 0 || count > debug.MostRanks {
			return nil, 0, fmt.Errorf("reading the address of rank %d: %w", rank, errors.Join(err, countErr))
		}
		lines, size = append(lines, line), int(count)
	}
	return lines, size, nil
}

func removeAnnouncements(path string) error {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), filepath.Base(path)+announcement+"*"))
	for _, file := range files {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}
