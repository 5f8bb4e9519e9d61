// Package autopush is a stand-in for Mozilla's push service that a real Firefox talks
// to: the browser keeps a WebSocket open, gets its endpoints by it and what is posted
// to them, and says whether it could decrypt it. The message is not looked into, only
// handed on. It knows nothing of the sender.
package autopush

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/websocket"
)

// What a browser says of a message.
const (
	Delivered     = 100 // the page's service worker got it
	NotDecrypted  = 101
	NotDelivered  = 102 // the service worker failed
	maxBody       = 4096
	subscriptions = "/wpush/v2/"
)

// Ack is what a browser said of one message.
type Ack struct {
	Version string // the message's number, as the answer to the sender has it in Location
	Code    int
}

// Server is a running stand-in.
type Server struct {
	http     *http.Server
	listener net.Listener
	ended    sync.WaitGroup
	acks     chan Ack
	greeted  chan struct{} // closed when a browser has said hello
	greet    sync.Once

	mu     sync.Mutex
	closed bool
	token  map[string]*browser // by the last part of an endpoint
	all    map[*websocket.Conn]struct{}
}

// browser is where an endpoint leads.
type browser struct {
	conn    *websocket.Conn
	channel string
}

// Start listens on a free port of this machine until Close.
func Start() (*Server, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: ln, acks: make(chan Ack, 1000), greeted: make(chan struct{}), token: map[string]*browser{}, all: map[*websocket.Conn]struct{}{}}
	mux := http.NewServeMux()
	mux.Handle("GET /", websocket.Server{Handler: s.serve, Handshake: takeProtocol})
	mux.HandleFunc("GET /open", s.open)
	mux.HandleFunc("POST "+subscriptions+"{token}", s.post)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	s.ended.Go(func() { _ = s.http.Serve(ln) }) // ends by Close alone
	return s, nil
}

// URL is what a browser's dom.push.serverURL is set to.
func (s *Server) URL() string { return "ws://" + s.listener.Addr().String() + "/" }

// Opener is what to open in a browser instead of page: it leads there as soon as the
// browser has said hello. Firefox may lose a subscription that a page asks for while it
// starts, before it speaks to its push service.
func (s *Server) Opener(page string) string {
	return "http://" + s.listener.Addr().String() + "/open?page=" + url.QueryEscape(page)
}

func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.greeted:
		http.Redirect(w, r, r.FormValue("page"), http.StatusFound)
	case <-r.Context().Done():
	}
}

// Acks has what browsers said, in the order in which they said it. It keeps a thousand
// for whoever reads it; further ones are lost.
func (s *Server) Acks() <-chan Ack { return s.acks }

// WaitAck waits for the next of Acks; the error is ctx's.
func (s *Server) WaitAck(ctx context.Context) (Ack, error) {
	select {
	case a := <-s.acks:
		return a, nil
	case <-ctx.Done():
		return Ack{}, ctx.Err()
	}
}

// Close cuts all connections and waits until they have ended.
func (s *Server) Close() {
	_ = s.http.Close() // the listener is gone either way
	s.mu.Lock()
	s.closed = true
	for c := range s.all {
		_ = c.Close() // it is of no use any more
	}
	s.mu.Unlock()
	s.ended.Wait()
}

// takeProtocol agrees to what the browser asks for, whatever its origin.
func takeProtocol(c *websocket.Config, _ *http.Request) error {
	if len(c.Protocol) > 1 {
		c.Protocol = c.Protocol[:1]
	}
	return nil
}

// said is what a browser says; the fields that its kind has are filled in.
type said struct {
	MessageType string `json:"messageType"`
	UAID        string `json:"uaid"`
	ChannelID   string `json:"channelID"`
	Updates     []struct {
		ChannelID string `json:"channelID"`
		Version   string `json:"version"`
		Code      int    `json:"code"`
	} `json:"updates"`
}

// serve speaks with one browser until it goes.
func (s *Server) serve(conn *websocket.Conn) {
	if !s.join(conn) {
		return // came while closing
	}
	defer s.leave(conn)
	for {
		var text string
		if err := websocket.Message.Receive(conn, &text); err != nil {
			return
		}
		var m said
		if json.Unmarshal([]byte(text), &m) != nil {
			return
		}
		if answer := s.answer(conn, &m); answer != nil && websocket.JSON.Send(conn, answer) != nil {
			return
		}
	}
}

func (s *Server) join(conn *websocket.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.ended.Add(1)
	s.all[conn] = struct{}{}
	return true
}

func (s *Server) leave(conn *websocket.Conn) {
	defer s.ended.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, conn)
	for t, b := range s.token {
		if b.conn == conn {
			delete(s.token, t)
		}
	}
}

// answer does what a browser asks for; nil where it waits for no answer.
func (s *Server) answer(conn *websocket.Conn, m *said) any {
	switch m.MessageType {
	case "hello":
		if m.UAID == "" {
			m.UAID = strings.ToLower(rand.Text())
		}
		s.greet.Do(func() { close(s.greeted) })
		return map[string]any{"messageType": "hello", "status": 200, "uaid": m.UAID, "use_webpush": true, "broadcasts": map[string]string{}}
	case "register":
		token := rand.Text()
		s.mu.Lock()
		s.token[token] = &browser{conn, m.ChannelID}
		s.mu.Unlock()
		return map[string]any{"messageType": "register", "status": 200, "channelID": m.ChannelID,
			"pushEndpoint": "http://" + s.listener.Addr().String() + subscriptions + token}
	case "unregister":
		s.unregister(conn, m.ChannelID)
		return map[string]any{"messageType": "unregister", "status": 200, "channelID": m.ChannelID}
	case "ack":
		for _, u := range m.Updates {
			select {
			case s.acks <- Ack{u.Version, u.Code}:
			default: // nobody asks for them
			}
		}
	case "ping", "":
		return map[string]any{}
	}
	return nil
}

func (s *Server) unregister(conn *websocket.Conn, channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t, b := range s.token {
		if b.conn == conn && b.channel == channel {
			delete(s.token, t)
		}
	}
}

// post hands what a sender posts to the browser that the endpoint leads to.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	b := s.token[r.PathValue("token")]
	s.mu.Unlock()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case b == nil:
		refuse(w, http.StatusGone, 106, "No such subscription")
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, 104, "Data payload too large")
	case err != nil:
		panic(http.ErrAbortHandler)
	case r.Header.Get("TTL") == "":
		refuse(w, http.StatusBadRequest, 111, "Missing TTL header")
	case !strings.HasPrefix(r.Header.Get("Authorization"), "vapid "):
		refuse(w, http.StatusUnauthorized, 109, "Request did not validate missing authorization header")
	default:
		version := rand.Text()
		err := websocket.JSON.Send(b.conn, map[string]any{
			"messageType": "notification", "channelID": b.channel, "version": version, "ttl": 60,
			"data":    base64.RawURLEncoding.EncodeToString(body),
			"headers": map[string]string{"encoding": r.Header.Get("Content-Encoding")},
		})
		if err != nil {
			refuse(w, http.StatusServiceUnavailable, 202, "The browser has gone")
			return
		}
		w.Header().Set("Location", "/m/"+version)
		w.WriteHeader(http.StatusCreated)
	}
}

func refuse(w http.ResponseWriter, status, errno int, words string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": status, "errno": errno, "message": words}) // the sender may have gone
}
