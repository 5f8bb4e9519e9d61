package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"bongsu/jobs/push/pushsim"
)

// A benchSim is the stand-in's control API.
type benchSim struct{ base string }

func (s benchSim) counts(ctx context.Context) (c pushsim.Counts, err error) {
	return c, askJSON(ctx, "GET", s.base+"/_control/counts", "", nil, &c)
}

func (s benchSim) reset(ctx context.Context) error {
	return askJSON(ctx, "POST", s.base+"/_control/reset", "", nil, nil)
}

// latency sets how long an answer takes, and how far that varies.
func (s benchSim) latency(ctx context.Context, d, jitter time.Duration) error {
	in := map[string]string{"latency": d.String(), "jitter": jitter.String()}
	return askJSON(ctx, "POST", s.base+"/_control/switches", "", in, nil)
}

// mend makes tokens that begin with prefix good, spoil undoes it.
func (s benchSim) mend(ctx context.Context, prefix string) error {
	return askJSON(ctx, "POST", s.base+"/_control/mend", "", map[string]string{"prefix": prefix}, nil)
}

func (s benchSim) spoil(ctx context.Context, prefix string) error {
	return askJSON(ctx, "POST", s.base+"/_control/break", "", map[string]string{"prefix": prefix}, nil)
}

// A benchAPI is the product's JSON API.
type benchAPI struct{ base, token string }

// benchNotice is what the benchmark reads of a notice.
type benchNotice struct {
	ID         int64     `json:"id"`
	State      string    `json:"state"`
	AcceptedAt time.Time `json:"accepted_at"`
	Counts     struct {
		Total, Pending, Retrying, Sending, Sent, Failed, Skipped, Unknown int
	} `json:"counts"`
}

func (a benchAPI) ready(ctx context.Context) error {
	return askJSON(ctx, "GET", a.base+"/readyz", "", nil, nil)
}

func (a benchAPI) submit(ctx context.Context, content map[string]any) (n benchNotice, err error) {
	return n, askJSON(ctx, "POST", a.base+"/api/v1/notices", a.token, content, &n)
}

func (a benchAPI) notice(ctx context.Context, id int64) (n benchNotice, err error) {
	return n, askJSON(ctx, "GET", fmt.Sprintf("%s/api/v1/notices/%d", a.base, id), a.token, nil, &n)
}

func (a benchAPI) cancel(ctx context.Context, id int64) error {
	return askJSON(ctx, "POST", fmt.Sprintf("%s/api/v1/notices/%d/cancel", a.base, id), a.token, nil, nil)
}

// askJSON makes one request with in as its body, where there is one, and reads
// the answer into out, where that is set. Any answer but a 2xx is an error.
func askJSON(ctx context.Context, method, url, token string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s answered %d: %s", method, url, resp.StatusCode, bytes.TrimSpace(raw))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}
