package answer

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
)

// leastCompressed is the size of a body, in bytes, from which on compression pays.
const leastCompressed = 1 << 10

// A gzipWriter belongs to a client that takes compressed answers.
type gzipWriter struct{ http.ResponseWriter }

// Unwrap is for [http.ResponseController].
func (w gzipWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Accepting returns what to write an answer to, so that it is compressed if the client takes
// that. Streams never are.
func Accepting(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	for _, each := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(each, ";")
		if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(quality, " ", "") != "q=0" {
			return gzipWriter{w}
		}
	}
	return w
}

// Compressed returns a body as it is sent, and sets the headers for that.
func Compressed(w http.ResponseWriter, body []byte) []byte {
	w.Header().Add("Vary", "Accept-Encoding")
	if _, isAccepted := w.(gzipWriter); !isAccepted || len(body) < leastCompressed {
		return body
	}
	var compressed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&compressed, gzip.BestSpeed) // the level is valid
	_, _ = writer.Write(body)                                     // a buffer takes everything
	_ = writer.Close()
	w.Header().Set("Content-Encoding", "gzip")
	return compressed.Bytes()
}
