package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"strconv"
	"time"

	"bongsu/db"
	"bongsu/db/devicelist"
)

// errStopping ends an upload, since the process ends.
var errStopping = errors.New("the server is stopping")

// upload is a file on its way in: it is kept part by part, each durably, while its
// hash is taken, and looked at as soon as its beginning is there.
type upload struct {
	s       *Server
	w       http.ResponseWriter
	by      db.Actor
	id      int64
	file    db.ImportFile
	options db.ImportOptions
}

// receive keeps the file that r brings, as its body or as the field file of a form,
// and reads the options. An *db.InvalidError says what is wrong with them or with
// the file; where it fails, nothing is kept.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) (_ *upload, err error) {
	u := &upload{s: s, w: w, by: actorOf(r)}
	control := http.NewResponseController(w)
	stop := context.AfterFunc(s.stopping, func() { _ = control.SetReadDeadline(time.Now()) })
	defer stop()
	defer func() {
		if err != nil {
			err = u.drop(r, err)
		}
	}()
	if r.ContentLength > uploadLimit {
		return u, &http.MaxBytesError{Limit: devicelist.MaxBytes}
	}
	q := query(r, "dry_run", "enable", "full_list", "again_of")
	for name, values := range q.values {
		u.option(&q.faults, name, values[0])
	}
	if err := q.faults.err(); err != nil {
		return u, err
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		return u, u.form(r)
	}
	return u, u.keep(r, r.Body)
}

// form reads the parts of a form in the order in which they come.
func (u *upload) form(r *http.Request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return &badRequestError{400, "bad_form", "The form cannot be read: " + err.Error() + "."}
	}
	var f faults
	files := 0
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return cutError(err)
		}
		if p.FormName() == "file" {
			if files++; files > 1 {
				f.say("file", "is there twice: send one list at a time")
				break
			}
			u.file.Name = p.FileName()
			if err := u.keep(r, p); err != nil {
				return err
			}
			continue
		}
		if err := u.field(&f, p); err != nil {
			return err
		}
	}
	if files == 0 {
		f.say("file", "is missing: choose the list")
	}
	return f.err()
}

func (u *upload) field(f *faults, p *multipart.Part) error {
	value, err := io.ReadAll(io.LimitReader(p, 1024))
	if err != nil {
		return cutError(err)
	}
	u.option(f, p.FormName(), string(value))
	return nil
}

// option reads one option. A box that is not ticked does not come at all.
func (u *upload) option(f *faults, name, value string) {
	flags := map[string]*bool{"dry_run": &u.options.DryRun, "enable": &u.options.Enable, "full_list": &u.options.FullList}
	if flag, ok := flags[name]; ok {
		switch value {
		case "true", "1", "on":
			*flag = true
		case "false", "0", "":
		default:
			f.say(name, "must be true or false")
		}
		return
	}
	if name != "again_of" {
		f.unknown = true
		f.say(name, "is not known here; there are file, dry_run, enable, full_list, again_of")
		return
	}
	if value == "" {
		return
	}
	id, err := strconv.ParseInt(value, 10, 64)
	if err != nil || id < 1 {
		f.say(name, "must be the number of an import")
		return
	}
	u.options.AgainOf = id
}

// keep stores what body brings, part by part. It has no limit of time as a whole
// but the route's; each part has the limit of an idle connection.
func (u *upload) keep(r *http.Request, body io.Reader) error {
	control, hash := http.NewResponseController(u.w), sha256.New()
	part := make([]byte, db.ChunkSize)
	for ended := false; !ended; {
		n, err := io.ReadFull(moving{u, body, control}, part)
		ended = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && isOver(body)
		if err != nil && !ended {
			return u.broken(err)
		}
		if u.file.Chunks == 0 {
			if err := u.begin(r.Context(), part[:n], ended); err != nil {
				return err
			}
		}
		if u.file.Size += int64(n); u.file.Size > devicelist.MaxBytes {
			return &http.MaxBytesError{Limit: devicelist.MaxBytes}
		}
		hash.Write(part[:n])
		if n > 0 || u.file.Chunks == 0 {
			if err := u.s.pages.AddUploadChunk(r.Context(), u.id, u.file.Chunks, part[:n]); err != nil {
				return err
			}
			u.file.Chunks++
		}
	}
	hash.Sum(u.file.SHA256[:0])
	return nil
}

// moving reads a body that has to move: before each read its limit is pushed on.
type moving struct {
	u       *upload
	body    io.Reader
	control *http.ResponseController
}

func (m moving) Read(p []byte) (int, error) {
	now, l := time.Now(), m.u.s.limits
	if err := errors.Join(m.control.SetReadDeadline(now.Add(l.UploadIdle)), m.control.SetWriteDeadline(now.Add(l.UploadIdle+l.Handler))); err != nil {
		return 0, err
	}
	if m.u.s.stopping.Err() != nil {
		return 0, errStopping
	}
	return m.body.Read(p)
}

// isOver says whether a body came to its end. A last part that is shorter than the
// room for it and a body that was cut look the same otherwise.
func isOver(body io.Reader) bool {
	n, err := body.Read(make([]byte, 1))
	return n == 0 && errors.Is(err, io.EOF)
}

// begin looks at the head of the list, so that what is none is refused at once,
// and makes room for it.
func (u *upload) begin(ctx context.Context, start []byte, whole bool) (err error) {
	if err := headFault(start, whole); err != nil {
		return err
	}
	u.id, err = u.s.pages.NewUpload(ctx, u.by)
	return err
}

// errMore stands for the rest of a list of which the beginning is looked at.
var errMore = errors.New("there is more to come")

// headFault says what is wrong with the beginning of a list, as an error of the
// field file.
func headFault(start []byte, whole bool) error {
	in := io.MultiReader(bytes.NewReader(start), failing{errMore})
	if whole {
		in = bytes.NewReader(start)
	}
	_, err := devicelist.NewReader(in)
	var format *devicelist.FormatError
	switch {
	case errors.As(err, &format):
		return &db.InvalidError{Fields: []db.FieldError{{Field: "file", Message: format.Message}}}
	case errors.Is(err, errMore):
		return nil
	}
	return err
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// broken says why the file did not arrive.
func (u *upload) broken(err error) error {
	if u.s.stopping.Err() != nil {
		return errStopping
	}
	return cutError(err)
}

func cutError(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &badRequestError{408, "upload_stalled", "The file stopped arriving, so nothing was stored. Send the same file again."}
	}
	return &badRequestError{400, "upload_cut", "The file did not arrive whole, so nothing was stored. Send the same file again."}
}

// drop forgets what was kept of a file that becomes no import, and says so in the
// log. It gives why.
func (u *upload) drop(r *http.Request, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), u.s.limits.Handler)
	defer cancel()
	if errors.Is(why, errStopping) { // the rest of the body is not waited for
		_ = http.NewResponseController(u.w).SetReadDeadline(time.Now())
	}
	attrs := []any{"actor", u.by.ID, "request_id", requestIDOf(r), "bytes", u.file.Size, "why", why}
	if u.id == 0 {
		u.s.log.InfoContext(ctx, "a file was not taken", attrs...)
		return why
	}
	if err := u.s.pages.DropUpload(ctx, u.id); err != nil {
		u.s.log.WarnContext(ctx, "parts of a file are swept later", "upload", u.id, "error", err)
	}
	u.s.log.WarnContext(ctx, "an upload ended before its end; nothing of it is kept", append(attrs, "upload", u.id)...)
	return why
}

// acceptUpload makes an import of the file that r brings. Once the file is there,
// a client that leaves changes nothing, and the log tells it. The options are those
// that came, also where it fails.
func (s *Server) acceptUpload(w http.ResponseWriter, r *http.Request) (i db.AcceptedImport, o db.ImportOptions, err error) {
	u, err := s.receive(w, r)
	if err != nil {
		return i, u.options, err
	}
	i, err = s.pages.AcceptImport(r.Context(), u.id, u.file, u.options, u.by)
	if err != nil {
		return i, u.options, u.drop(r, err)
	}
	concerns(r, "import", i.ID)
	attrs := []slog.Attr{slog.Int64("import", i.ID), slog.Bool("original", i.Original), slog.Int64("bytes", u.file.Size),
		slog.String("actor", u.by.ID), slog.String("request_id", requestIDOf(r)), slog.String("ended", s.endOf(r.Context()))}
	s.log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelInfo, "a device list was accepted", attrs...)
	return i, u.options, nil
}
