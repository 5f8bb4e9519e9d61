package pushsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// wire is Switches as the control API writes it; a nil field stays as it is.
type wire struct {
	Outage         *bool        `json:"outage"`
	Refuse         *bool        `json:"refuse"`
	Forbid         *bool        `json:"forbid"`
	Redirect       *string      `json:"redirect"`
	RateLimit      *duration    `json:"rate_limit"`
	Latency        *duration    `json:"latency"`
	Jitter         *duration    `json:"jitter"`
	TransientShare *float64     `json:"transient_share"`
	HonourKeys     *bool        `json:"honour_keys"`
	FCM            *fcmWire     `json:"fcm"`
	WebPush        *webPushWire `json:"webpush"`
}

// duration is written as Go does, such as 30ms.
type duration time.Duration

func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = duration(v)
	return err
}

func wireOf(s *Switches) wire {
	return wire{
		Outage: &s.Outage, Refuse: &s.Refuse, Forbid: &s.Forbid, Redirect: &s.Redirect,
		RateLimit: (*duration)(&s.RateLimit), Latency: (*duration)(&s.Latency), Jitter: (*duration)(&s.Jitter),
		TransientShare: &s.TransientShare, HonourKeys: &s.HonourKeys,
		FCM: fcmWireOf(&s.FCM), WebPush: webPushWireOf(&s.WebPush),
	}
}

func (s *Server) controls() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_control/counts", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Counts()) })
	mux.HandleFunc("GET /_control/twice", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, append([]Pair{}, s.Twice()...))
	})
	mux.HandleFunc("POST /_control/reset", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		reply(w, s.Counts())
	})
	mux.HandleFunc("GET /_control/switches", func(w http.ResponseWriter, _ *http.Request) { s.replySwitches(w) })
	mux.HandleFunc("POST /_control/switches", s.changeSwitches)
	mux.HandleFunc("POST /_control/mend", prefixed(s.Mend))
	mux.HandleFunc("POST /_control/break", prefixed(s.Break))
	mux.HandleFunc("GET /_control/calls", s.replyCalls)
	s.fcmControls(mux)
	s.webPushControls(mux)
	return mux
}

func (s *Server) replySwitches(w http.ResponseWriter) {
	now := s.Switches()
	reply(w, wireOf(&now))
}

func (s *Server) changeSwitches(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if !accept(w, err) {
		return
	}
	err = s.update(func(next *Switches) error {
		// The fields of in point into next, so decoding changes the named ones.
		in := wireOf(next)
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.DisallowUnknownFields()
		return dec.Decode(&in)
	})
	if accept(w, err) {
		s.replySwitches(w)
	}
}

func (s *Server) replyCalls(w http.ResponseWriter, r *http.Request) {
	notice, err := strconv.ParseInt(r.FormValue("notice"), 10, 64)
	if !accept(w, err) {
		return
	}
	token := r.FormValue("token")
	reply(w, struct {
		Delivered int    `json:"delivered"`
		Calls     []Call `json:"calls"`
	}{s.Delivered(token, notice), append([]Call{}, s.Calls(token, notice)...)})
}

func prefixed(do func(prefix string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Prefix string `json:"prefix"`
		}
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in)
		if accept(w, err) && accept(w, do(in.Prefix)) {
			reply(w, in)
		}
	}
}

// accept answers 400 where err is set.
func accept(w http.ResponseWriter, err error) bool {
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintln(w, err)
	}
	return err == nil
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // only the client's going can fail it
}
