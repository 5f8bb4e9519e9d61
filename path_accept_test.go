package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFaultSameSubmit submits the same a hundred times at once over two processes
// that have no Redis: with one key, and with the same content and no key. One
// notice comes of it, one answer is 202 and all others name it.
func TestFaultSameSubmit(t *testing.T) {
	t.Parallel()
	s := newSite(t, plainVendor())
	bases := []string{s.start(roleWeb).base, s.start(roleWeb).base}
	for name, key := range map[string]string{"one key": "k-1", "no key": ""} {
		var all sync.WaitGroup
		var accepted, original atomic.Int64
		var ids sync.Map
		before := s.count("SELECT count(*) FROM notice")
		for i := range 100 {
			all.Go(func() {
				n, status, err := s.post(bases[i%2], name, key)
				if err != nil {
					t.Error(err)
					return
				}
				ids.Store(n.ID, true)
				switch status {
				case http.StatusAccepted:
					accepted.Add(1)
				case http.StatusOK:
					original.Add(1)
				}
			})
		}
		all.Wait()
		different := 0
		ids.Range(func(any, any) bool { different++; return true })
		made := s.count("SELECT count(*) FROM notice") - before
		t.Logf("%s: %d accepted, %d got the original, %d notices", name, accepted.Load(), original.Load(), made)
		if accepted.Load() != 1 || original.Load() != 99 || different != 1 || made != 1 {
			t.Errorf("%s: %d accepted, %d originals, %d ids, %d notices", name, accepted.Load(), original.Load(), different, made)
		}
	}
}

// post submits the content of title over one process, with a key where it is
// given.
func (s *site) post(base, title, key string) (n apiNotice, status int, err error) {
	body := fmt.Sprintf(`{"title":%q,"body":"body"}`, title)
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, base+"/api/v1/notices", strings.NewReader(body))
	if err != nil {
		return n, 0, err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	status, err = s.api.do(req, &n)
	return n, status, err
}

// TestFaultServerKilledWhileAccepting kills the process at several moments of a submit,
// some of them after the commit and before the answer. Pressing again always
// leads to the one notice: to the original where it was stored.
func TestFaultServerKilledWhileAccepting(t *testing.T) {
	t.Parallel()
	s := newSite(t, plainVendor())
	stored := func(title string) bool { return s.count("SELECT count(*) FROM notice WHERE title = $1", title) == 1 }
	silent := 0 // stored, and no answer came
	for i, moment := range []func(title string){
		func(title string) { s.until("it is stored", func() bool { return stored(title) }) },
		func(title string) { s.until("it is stored", func() bool { return stored(title) }) },
		func(string) { <-time.After(time.Millisecond) },
		func(string) { <-time.After(3 * time.Millisecond) },
		func(string) { <-time.After(6 * time.Millisecond) },
	} {
		title := fmt.Sprintf("kill-%d", i)
		p := s.start(roleWeb)
		answer := make(chan int, 1)
		go func() {
			_, status, err := s.post(p.base, title, "")
			if err != nil {
				status = 0
			}
			answer <- status
		}()
		moment(title)
		s.dies(p)
		s.until("the database has done what it was at", func() bool {
			return s.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
				AND pid <> pg_backend_pid() AND state IN ('active', 'idle in transaction')`) == 0
		})
		first, was := <-answer, stored(title)
		s.start(roleWeb)
		want := http.StatusAccepted
		if was {
			want = http.StatusOK
		}
		if was && first == 0 {
			silent++
		}
		t.Logf("%s: first answer %d, stored %t", title, first, was)
		if !was && first != 0 {
			t.Errorf("%s: %d was answered and nothing is stored", title, first)
		}
		s.submits(title, want)
		if n := s.count("SELECT count(*) FROM notice WHERE title = $1", title); n != 1 {
			t.Errorf("%s: %d notices", title, n)
		}
	}
	t.Logf("%d of them were stored without an answer", silent)
}

// TestFaultClientLeaves closes the connection of a submit that waits for a lock. The
// notice is accepted nevertheless, once, and pressing again shows it.
func TestFaultClientLeaves(t *testing.T) {
	t.Parallel()
	s := newSite(t, plainVendor())
	p := s.start(roleWeb)
	tx, err := s.pool.Begin(t.Context())
	s.no(err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE notice IN SHARE MODE") // inserts wait for its end
	s.no(err)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _, _, _ = s.api.submit(ctx, text("left")) // it has no answer: that is the scene
	}()
	s.until("the submit waits", func() bool {
		return s.count("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'notice'::regclass") > 0
	})
	leave()
	<-gone
	s.no(tx.Commit(t.Context()))
	s.until("it is stored", func() bool { return s.count("SELECT count(*) FROM notice") == 1 })
	n := s.submits("left", http.StatusOK)
	s.quits(p)
	log, err := os.ReadFile(p.log)
	s.no(err)
	said := regexp.MustCompile(fmt.Sprintf(`msg="notice was accepted after its client left".* notice=%d\b`, n.ID))
	if !said.Match(log) {
		t.Errorf("the log does not tell of notice %d and its client:\n%s", n.ID, log)
	}
}
