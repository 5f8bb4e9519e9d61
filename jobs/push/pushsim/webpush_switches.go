package pushsim

import (
	"fmt"
	"net/http"
)

// WebPushSwitches is what can be changed of Web Push's part alone.
type WebPushSwitches struct {
	Key        string // the public key that all subscriptions were made with, base64url; empty: any
	Blind      bool   // bodies are not opened; the Topic stands for the notice
	RetryAfter string // how RateLimit's 429 names its time: seconds (also empty), date or none
	Page       bool   // 503 with an HTML page to all
}

// webPushWire is WebPushSwitches as the control API writes it.
type webPushWire struct {
	Key        *string `json:"key"`
	Blind      *bool   `json:"blind"`
	RetryAfter *string `json:"retry_after"`
	Page       *bool   `json:"page"`
}

func webPushWireOf(s *WebPushSwitches) *webPushWire {
	return &webPushWire{Key: &s.Key, Blind: &s.Blind, RetryAfter: &s.RetryAfter, Page: &s.Page}
}

func (s WebPushSwitches) check() error {
	switch s.RetryAfter {
	case "", "seconds", "date", "none":
		return nil
	}
	return fmt.Errorf("pushsim: webpush: retry_after is %q: say seconds, date or none", s.RetryAfter)
}

// webPushControls adds what a test in another process needs.
func (s *Server) webPushControls(mux *http.ServeMux) {
	mux.HandleFunc("GET /_control/webpush/subscription", func(w http.ResponseWriter, r *http.Request) {
		reply(w, WebPushSubscription(originOf(r)+"/wp/", r.FormValue("token")))
	})
}

// originOf is how the client spells this server.
func originOf(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
