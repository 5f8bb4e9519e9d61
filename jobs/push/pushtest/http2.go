package pushtest

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2 is the other half of a Conn whose peer speaks HTTP/2 without TLS. Scripts stay
// as they are: what they say as HTTP/1.1 goes out in frames on the stream of the
// request that was read last, also where it is cut short. Pings are answered while
// a script waits for a request.
type h2 struct {
	conn    io.Writer
	framer  *http2.Framer
	streams map[uint32]*Request // under way
	stream  uint32              // of the request that was read last
	head    *hpack.Encoder
	block   bytes.Buffer
	raw     bool // what is said from here on is no HTTP/2
	left    int  // of the body that was announced
}

// speaksHTTP2 looks at what the peer says first, and reads it if it is HTTP/2.
func speaksHTTP2(r *bufio.Reader) bool {
	const preface = http2.ClientPreface
	// Four bytes tell it from every request of HTTP/1.1, which may be shorter than
	// the preface.
	if b, err := r.Peek(4); err != nil || string(b) != preface[:4] {
		return false
	}
	b, err := r.Peek(len(preface))
	if err != nil || string(b) != preface {
		return false
	}
	_, err = r.Discard(len(preface))
	return err == nil
}

func newH2(conn io.Writer, r *bufio.Reader) *h2 {
	h := &h2{conn: conn, framer: http2.NewFramer(conn, r), streams: make(map[uint32]*Request)}
	h.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	h.head = hpack.NewEncoder(&h.block)
	_ = h.framer.WriteSettings() // if the peer has gone, reading says so
	return h
}

// request reads on until a request is whole. ok is false if the peer went.
func (h *h2) request() (r Request, ok bool) {
	for {
		f, err := h.framer.ReadFrame()
		if err != nil {
			return Request{}, false
		}
		ended, err := h.take(f)
		if err != nil {
			return Request{}, false
		}
		if whole := h.streams[f.Header().StreamID]; ended && whole != nil {
			h.stream, h.left = f.Header().StreamID, 0
			delete(h.streams, h.stream)
			return *whole, true
		}
	}
}

// take takes a frame in. ended: it is the last of its stream.
func (h *h2) take(f http2.Frame) (ended bool, err error) {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return false, h.framer.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			return false, h.framer.WritePing(true, f.Data)
		}
	case *http2.RSTStreamFrame:
		delete(h.streams, f.StreamID)
	case *http2.MetaHeadersFrame:
		r := &Request{Method: f.PseudoValue("method"), Header: make(http.Header)}
		for _, field := range f.RegularFields() {
			r.Header.Add(field.Name, field.Value)
		}
		h.streams[f.StreamID] = r
		return f.StreamEnded(), nil
	case *http2.DataFrame:
		return f.StreamEnded(), h.data(f)
	}
	return false, nil
}

// data takes a part of a body in and gives the room for it back.
func (h *h2) data(f *http2.DataFrame) error {
	if r := h.streams[f.StreamID]; r != nil {
		r.Body = append(r.Body, f.Data()...)
	}
	if n := f.Header().Length; n > 0 {
		return h.framer.WriteWindowUpdate(0, n)
	}
	return nil
}

// say writes a part of an answer.
func (h *h2) say(text string) error {
	if h.left > 0 {
		return h.body(text)
	}
	head, body, whole := strings.Cut(text, "\r\n\r\n")
	if h.raw || !strings.HasPrefix(head, "HTTP/1.1 ") {
		h.raw = true
		_, err := io.WriteString(h.conn, text)
		return err
	}
	if !whole {
		// A frame of headers that is longer than what comes of it.
		h.raw = true
		_, err := h.conn.Write([]byte{0, 16, 0, byte(http2.FrameHeaders), byte(http2.FlagHeadersEndHeaders),
			byte(h.stream >> 24), byte(h.stream >> 16), byte(h.stream >> 8), byte(h.stream)})
		return err
	}
	lines := strings.Split(strings.TrimPrefix(head, "HTTP/1.1 "), "\r\n")
	h.block.Reset()
	h.field(":status", lines[0][:3])
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Content-Length" {
			h.left, _ = strconv.Atoi(value) // 0 where it is none
		}
		h.field(strings.ToLower(name), value)
	}
	err := h.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: h.stream, BlockFragment: h.block.Bytes(), EndHeaders: true, EndStream: h.left == 0,
	})
	if err != nil || h.left == 0 {
		return err
	}
	return h.body(body)
}

func (h *h2) field(name, value string) {
	_ = h.head.WriteField(hpack.HeaderField{Name: name, Value: value}) // into memory
}

// body writes a part of a body; what was announced ends it.
func (h *h2) body(text string) error {
	const most = 16 << 10 // what a frame may hold at least
	for text != "" && h.left > 0 {
		part := text[:min(len(text), most, h.left)]
		text = text[len(part):]
		h.left -= len(part)
		if err := h.framer.WriteData(h.stream, h.left == 0, []byte(part)); err != nil {
			return err
		}
	}
	return nil
}
