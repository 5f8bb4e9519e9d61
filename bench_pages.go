package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"bongsu/db"
	"bongsu/web"
)

// A benchPages is a signed-in admin's browser.
type benchPages struct {
	base   string
	client *http.Client
}

// signIn adds an admin and signs in.
func (b *bench) signIn(ctx context.Context) (p benchPages, err error) {
	const email, password = "bench@example.com", "a long bench password"
	if _, err := b.ledger.AddUser(ctx, email, db.Admin, web.HashPassword(password), commandActor()); err != nil {
		return p, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return p, err
	}
	p = benchPages{b.api.base, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	form := strings.NewReader(url.Values{"email": {email}, "password": {password}}.Encode())
	req, err := http.NewRequestWithContext(ctx, "POST", p.base+"/signin", form)
	if err != nil {
		return p, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := p.client.Do(req)
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		return p, fmt.Errorf("signing in was answered %s", resp.Status)
	}
	return p, nil
}

// look gets one page and gives the time until all of it is there.
func (p benchPages) look(ctx context.Context, path string) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", p.base+path, nil)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s was answered %s", path, resp.Status)
	}
	return time.Since(start), nil
}

// pageTimes are the medians of four pages.
type pageTimes [4]time.Duration

// pageRows name the pages in the order of pageTimes.
var pageRows = [4]struct{ key, what string }{
	{"page_progress", "progress fragment"}, {"page_archive", "archive"}, {"page_notice", "notice page"}, {"page_device", "device page"},
}

// timePages looks at the pages of a notice, of the archive and of a device, in
// turns, a few times more than count. The first looks do not count.
func (b *bench) timePages(ctx context.Context, notice, device int64) (times pageTimes, err error) {
	paths := [4]string{fmt.Sprintf("/notices/%d/progress", notice), "/archive", fmt.Sprintf("/notices/%d", notice), fmt.Sprintf("/devices/%d", device)}
	const warm = 3
	var all [4][]time.Duration
	for range warm + b.sizes.pages {
		for i, path := range paths {
			d, err := b.pages.look(ctx, path)
			if err != nil {
				return times, err
			}
			all[i] = append(all[i], d)
		}
	}
	for i := range all {
		times[i] = quantile(all[i][warm:], 0.5)
	}
	return times, nil
}

// smallNotice sends the first notice, which also warms everything up, and looks
// at the pages with it.
func (b *bench) smallNotice(ctx context.Context) error {
	if err := b.seed(ctx, b.sizes.small); err != nil {
		return err
	}
	r, err := b.tell(ctx, everybody, b.sizes.small, b.refused())
	if err != nil {
		return err
	}
	device, err := b.lastDevice(ctx)
	if err != nil {
		return err
	}
	b.small, err = b.timePages(ctx, r.ID, device)
	return err
}

// largePages compares the pages with the largest notice to those before. The
// device is one that has had one notice, in both cases.
func (b *bench) largePages(ctx context.Context) error {
	device, err := b.lastDevice(ctx)
	if err != nil {
		return err
	}
	large, err := b.timePages(ctx, b.large.ID, device)
	if err != nil {
		return err
	}
	for i, row := range pageRows {
		b.report.atMost(row.key, fmt.Sprintf("%s: time at %d deliveries through that at %d", row.what, b.large.Counts.Total, b.sizes.small),
			float64(large[i])/float64(b.small[i]), "×", 2, 1, "medians %.2f ms and %.2f ms", millis(large[i]), millis(b.small[i]))
	}
	return nil
}

func (b *bench) lastDevice(ctx context.Context) (id int64, err error) {
	return id, b.pool.QueryRow(ctx, "SELECT max(id) FROM device WHERE platform = 'android'").Scan(&id)
}
