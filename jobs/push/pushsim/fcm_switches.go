package pushsim

import (
	"fmt"
	"net/http"
	"time"
)

// FCMSwitches is what can be changed of FCM's part alone.
type FCMSwitches struct {
	TokenOutage bool          // 503 from the token endpoint
	TokenHang   bool          // no answer from the token endpoint
	TokenLife   time.Duration // how long an access token is good, in whole seconds; 0: an hour
	RetryAfter  string        // how RateLimit's 429 names its time: seconds (also empty), date or none
	Page        bool          // 503 with an HTML page to all
	GoAwayEvery int           // the answer to every nth call ends its HTTP/2 connection; 0: off
}

// fcmWire is FCMSwitches as the control API writes it.
type fcmWire struct {
	TokenOutage *bool     `json:"token_outage"`
	TokenHang   *bool     `json:"token_hang"`
	TokenLife   *duration `json:"token_life"`
	RetryAfter  *string   `json:"retry_after"`
	Page        *bool     `json:"page"`
	GoAwayEvery *int      `json:"goaway_every"`
}

func fcmWireOf(s *FCMSwitches) *fcmWire {
	return &fcmWire{TokenOutage: &s.TokenOutage, TokenHang: &s.TokenHang, TokenLife: (*duration)(&s.TokenLife),
		RetryAfter: &s.RetryAfter, Page: &s.Page, GoAwayEvery: &s.GoAwayEvery}
}

func (s FCMSwitches) check() error {
	switch {
	case s.TokenLife < 0 || s.GoAwayEvery < 0:
		return fmt.Errorf("pushsim: fcm: a number is negative")
	case s.RetryAfter != "" && s.RetryAfter != "seconds" && s.RetryAfter != "date" && s.RetryAfter != "none":
		return fmt.Errorf("pushsim: fcm: retry_after is %q: say seconds, date or none", s.RetryAfter)
	}
	return nil
}

// fcmControls adds what a test in another process needs.
func (s *Server) fcmControls(mux *http.ServeMux) {
	mux.HandleFunc("POST /_control/fcm/key", func(w http.ResponseWriter, r *http.Request) {
		key, err := s.NewFCMKey(r.FormValue("project"), "http://"+r.Host)
		if accept(w, err) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(key) // the client may have gone
		}
	})
	mux.HandleFunc("POST /_control/fcm/revoke", func(w http.ResponseWriter, _ *http.Request) {
		s.RevokeFCMKeys()
		reply(w, struct{}{})
	})
	mux.HandleFunc("POST /_control/fcm/forget", func(w http.ResponseWriter, _ *http.Request) {
		s.ForgetFCMTokens()
		reply(w, struct{}{})
	})
}
