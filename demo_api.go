package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A demoAPI asks the JSON API as any other program would.
type demoAPI struct {
	base  string // http://host:port/api/v1
	token string
}

// What the demo reads of the API's answers.
type (
	apiNotice struct {
		ID            int64     `json:"id"`
		State         string    `json:"state"`
		Counts        apiCounts `json:"counts"`
		PossiblyTwice int       `json:"possibly_twice"`
		FannedOut     bool      `json:"fanned_out"`
	}
	apiCounts struct {
		Total, Pending, Retrying, Sending, Sent, Failed, Skipped, Unknown int
	}
	apiArchived struct {
		DeviceID int64  `json:"device_id"`
		Reason   string `json:"reason"`
		Attempts int    `json:"attempts"`
	}
	apiReplay struct {
		ID       int64          `json:"id"`
		State    string         `json:"state"`
		Matched  int            `json:"matched"`
		Replayed int            `json:"replayed"`
		Skipped  map[string]int `json:"skipped"`
	}
)

// parts is what the counts of all states add up to.
func (c apiCounts) parts() int {
	return c.Pending + c.Retrying + c.Sending + c.Sent + c.Failed + c.Skipped + c.Unknown
}

// submit asks to send content and gives the answer's status and how long it took.
func (a demoAPI) submit(ctx context.Context, content map[string]any) (n apiNotice, status int, took time.Duration, err error) {
	began := time.Now()
	status, err = a.ask(ctx, http.MethodPost, "/notices", content, &n)
	return n, status, time.Since(began), err
}

func (a demoAPI) notice(ctx context.Context, id int64) (n apiNotice, err error) {
	_, err = a.ask(ctx, http.MethodGet, fmt.Sprintf("/notices/%d", id), nil, &n)
	return n, err
}

// archive gives all failed deliveries of a notice, page by page.
func (a demoAPI) archive(ctx context.Context, notice int64) (all []apiArchived, err error) {
	q := url.Values{"notice": {strconv.FormatInt(notice, 10)}, "limit": {"1000"}}
	for {
		var page struct {
			Items []apiArchived `json:"items"`
			Next  *string       `json:"next_cursor"`
		}
		if _, err := a.ask(ctx, http.MethodGet, "/archive?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == nil {
			return all, nil
		}
		q.Set("cursor", *page.Next)
	}
}

// replay asks to replay a notice's failed deliveries with this reason, and
// waits until all were looked at.
func (a demoAPI) replay(ctx context.Context, notice int64, reason string) (r apiReplay, err error) {
	filter := map[string]any{"filter": map[string]any{"notice": notice, "reason": reason}}
	if _, err := a.ask(ctx, http.MethodPost, "/archive/replays", filter, &r); err != nil {
		return r, err
	}
	err = poll(ctx, time.Minute, 50*time.Millisecond, fmt.Sprintf("replay %d is done", r.ID), func() (bool, error) {
		_, err := a.ask(ctx, http.MethodGet, fmt.Sprintf("/archive/replays/%d", r.ID), nil, &r)
		return r.State == "done", err
	})
	return r, err
}

// ask makes one request with in as its body, where there is one, as do does.
func (a demoAPI) ask(ctx context.Context, method, path string, in, out any) (status int, err error) {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+path, body)
	if err != nil {
		return 0, err
	}
	return a.do(req, out)
}

// do signs req, makes it, and reads the answer into out. Any answer but a 2xx
// is an error with its words.
func (a demoAPI) do(req *http.Request, out any) (status int, err error) {
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err
	}
	if resp.StatusCode/100 != 2 {
		return resp.StatusCode, fmt.Errorf("%s %s answered %d: %s", req.Method, req.URL.Path, resp.StatusCode, bytes.TrimSpace(raw))
	}
	return resp.StatusCode, json.Unmarshal(raw, out)
}

// poll calls ok at once and after each pause until it is true. It fails with
// ok's error, with ctx, or after limit, saying that what never came.
func poll(ctx context.Context, limit, pause time.Duration, what string, ok func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not come within %s that %s", limit, what))
	defer cancel()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		done, err := ok()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
