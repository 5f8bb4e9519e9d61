package web

import (
	"encoding/json"
	"errors"
	"net/http"
)

// problem is RFC 9457's form of an error. Code is stable; Errors names fields.
type problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail"`
	Code      string         `json:"code"`
	Errors    []problemField `json:"errors,omitempty"`
	NoticeID  int64          `json:"notice_id,omitempty"`
	RequestID string         `json:"request_id"`
}

type problemField struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func writeProblem(w http.ResponseWriter, r *http.Request, f failure, err error) {
	p := problem{Type: "about:blank", Title: http.StatusText(f.Status), Status: f.Status, Detail: f.Detail,
		Code: f.Code, NoticeID: f.Object, RequestID: f.RequestID}
	for _, e := range f.Fields {
		p.Errors = append(p.Errors, problemField(e))
	}
	h := w.Header()
	switch {
	case errors.Is(err, errNoToken):
		h.Set("WWW-Authenticate", `Bearer realm="bongsu"`)
	case errors.Is(err, errBadToken):
		h.Set("WWW-Authenticate", `Bearer realm="bongsu", error="invalid_token"`)
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(f.Status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(p) // the client has left if this fails
	}
}
