package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	h "github.com/rmctl/rmctl/internal/html"
	"github.com/rmctl/rmctl/internal/web/answer"
)

//go:embed static
var staticFolder embed.FS

// staticFiles serves the files of the folder static below /static/. Addresses
// carry a hash of the content, so that browsers may keep what they have.
type staticFiles struct {
	hashes map[string]string // by path below static
}

func readStatic() (*staticFiles, error) {
	hashes := map[string]string{}
	err := fs.WalkDir(staticFolder, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(staticFolder, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		hashes[strings.TrimPrefix(name, "static/")] = hex.EncodeToString(sum[:8])
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the static files: %w", err)
	}
	return &staticFiles{hashes: hashes}, nil
}

// address returns where a file of the folder static is served.
func (f *staticFiles) address(name string) string {
	return (&url.URL{Path: "/static/" + name, RawQuery: "v=" + f.hashes[name]}).String()
}

// tag returns what makes a page use a script or a style sheet.
func (f *staticFiles) tag(name string) h.Node {
	if strings.HasSuffix(name, ".css") {
		return h.Link(h.Attr("rel", "stylesheet"), h.Href(f.address(name)))
	}
	return h.Script(h.Attr("src", f.address(name)), h.Flag("defer"))
}

// answer answers with a file, and never with a list of them.
func (f *staticFiles) answer(w http.ResponseWriter, r *http.Request) error {
	hash, known := f.hashes[strings.TrimPrefix(r.URL.Path, "/static/")]
	if !known {
		http.NotFound(w, r)
		return nil
	}
	w.Header().Set("ETag", `"`+hash+`"`)
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == hash {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	content, err := staticFolder.ReadFile(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(r.URL.Path)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(answer.Compressed(w, content)))
	return nil
}
