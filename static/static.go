// Package static holds what browsers fetch as files: styles, script, icons.
// Everything is embedded. Each file is served under a name that carries a hash
// of its content, so that it may be cached for ever. The package knows nothing
// of pages.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Prefix is the path below which Handler answers.
const Prefix = "/static/"

//go:embed app.css app.js icons vendor LICENSES
var files embed.FS

// asset is one embedded file as it is served.
type asset struct {
	hashed string // its name with the hash in it
	kind   string // its Content-Type
	body   []byte
}

// byName and byHashed are filled once from the embedded files and never changed: by plain
// name, and by hashed name.
var byName, byHashed = load(files)

// Path gives the address of an embedded file, such as app.css. It panics for a
// name that is not embedded, since that is a mistake in a template.
func Path(name string) string {
	a, ok := byName[name]
	if !ok {
		panic("static: no file named " + name)
	}
	return Prefix + a.hashed
}

// Names lists the plain names of all embedded files.
func Names() []string {
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	return names
}

// Handler answers GET and HEAD below Prefix. A hashed name may be kept for
// ever by browsers; any other name is not found, so that nothing stale is ever
// cached under a name that stays.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := byHashed[strings.TrimPrefix(r.URL.Path, Prefix)]
		if !ok {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", a.kind)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.body))
	})
}

func load(fsys fs.FS) (plain, hashed map[string]asset) {
	plain, hashed = map[string]asset{}, map[string]asset{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		a := asset{hashed: hashedName(name, body), kind: kind(name), body: body}
		plain[name], hashed[a.hashed] = a, a
		return nil
	})
	if err != nil { // an embedded file can always be read
		panic(err)
	}
	return plain, hashed
}

// hashedName puts the first 12 hex digits of the content's SHA-256 before the
// extension.
func hashedName(name string, body []byte) string {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
}

// kind names the type by the extension. It does not ask the operating system,
// whose tables differ.
func kind(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return "text/plain; charset=utf-8"
	}
}
