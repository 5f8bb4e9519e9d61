package db

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// newTestSend stores n devices and a test send to them.
func newTestSend(t testing.TB, db *DB, n int) TestSend {
	t.Helper()
	var ids []int64
	for i := range n {
		ids = append(ids, put(t, db, DeviceInput{Token: fmt.Sprint("token-number-", i)}).ID)
	}
	ts, err := db.CreateTestSend(t.Context(), "Title", "Body", "", ids, someone)
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

func claimTests(t testing.TB, db *DB, id int64, n int) []TestClaim {
	t.Helper()
	claims, err := db.ClaimTestSend(t.Context(), id, n, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// statusOf gives the status and reason of each device of a test send.
func statusOf(t testing.TB, db *DB, id int64) (list []string, finished bool) {
	t.Helper()
	ts, err := db.TestSend(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ts.Devices {
		s := d.Status
		if d.Reason != nil {
			s += " " + *d.Reason
		}
		list = append(list, s)
	}
	return list, ts.FinishedAt != nil
}

func expect(t testing.TB, db *DB, id int64, finished bool, want ...string) {
	t.Helper()
	if got, done := statusOf(t, db, id); !slices.Equal(got, want) || done != finished {
		t.Errorf("devices %q, finished %v; want %q, %v", got, done, want, finished)
	}
}

func result(c TestClaim, status, reason string) TestResult {
	return TestResult{TestSendID: c.TestSendID, DeviceID: c.DeviceID, Fence: c.Fence, Status: status, Reason: reason}
}

func TestTestSend(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	d := put(t, db, DeviceInput{Token: "token-number-one", Platform: "ios"})
	made, err := db.CreateTestSend(ctx, " Title ", "one\r\ntwo", "https://example.com/a", []int64{d.ID, d.ID}, someone)
	if err != nil {
		t.Fatal(err)
	}
	if made.ID == 0 || made.Title != "Title" || made.Body != "one\ntwo" || *made.Link != "https://example.com/a" ||
		made.AskedBy != someone.ID || made.AskedByName != someone.Name || made.FinishedAt != nil || len(made.Devices) != 1 {
		t.Errorf("made %+v", made)
	}
	got, err := db.TestSend(ctx, made.ID)
	if err != nil || len(got.Devices) != 1 || got.Devices[0].DeviceID != d.ID || got.Devices[0].Status != "pending" ||
		got.Devices[0].TokenMasked != "to…ne" || got.Devices[0].Platform != "ios" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := db.TestSend(ctx, made.ID+1); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}

	claims := claimTests(t, db, made.ID, 10)
	if len(claims) != 1 || claims[0].Token != "token-number-one" || claims[0].Title != "Title" || claims[0].Body != "one\ntwo" ||
		claims[0].Link != "https://example.com/a" || claims[0].Platform != "ios" || claims[0].Kind != "http" || claims[0].Fence != 1 {
		t.Fatalf("claims %+v", claims)
	}
	r := result(claims[0], "failed", "rejected")
	r.Code, r.Message = "E7", "no such app"
	if err := db.RecordTestSend(ctx, []TestResult{r}); err != nil {
		t.Fatal(err)
	}
	expect(t, db, made.ID, true, "failed rejected")
	got, err = db.TestSend(ctx, made.ID)
	if err != nil || *got.Devices[0].Code != "E7" || *got.Devices[0].Message != "no such app" || got.Devices[0].SentAt != nil {
		t.Errorf("recorded %+v, %v", got.Devices[0], err)
	}
}

func TestTestSendInvalid(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	id := put(t, db, DeviceInput{Token: "t"}).ID
	for _, c := range []struct {
		title, body string
		devices     []int64
		fields      string
	}{
		{"t", "b", nil, "devices"},
		{"t", "b", make([]int64, 101), "devices"},
		{"t", "b", []int64{id, id + 1, 0}, "devices[1] devices[2]"},
		{"", "", []int64{id}, "title body"},
		{strings.Repeat("t", MaxTitle+1), "b", nil, "title devices"},
	} {
		if _, err := db.CreateTestSend(ctx, c.title, c.body, "", c.devices, someone); fieldsOf(err) != c.fields {
			t.Errorf("%.10q to %d devices: %v, want fields %q", c.title, len(c.devices), err, c.fields)
		}
	}
	refuseAudit(t, db)
	if _, err := db.CreateTestSend(ctx, "t", "b", "", []int64{id}, someone); err == nil {
		t.Error("stored without an audit line")
	}
	if n := ask[int](t, db, "SELECT (SELECT count(*) FROM test_send) + (SELECT count(*) FROM test_send_device)"); n != 0 {
		t.Errorf("%d rows stored", n)
	}
}

func TestTestSendSkipsWhoMayNotBeTold(t *testing.T) {
	db := newDB(t)
	ts := newTestSend(t, db, 4)
	exec(t, db, "UPDATE device SET consent = false WHERE id = $1", ts.Devices[0].DeviceID)
	exec(t, db, "UPDATE device SET disabled_at = now(), disabled_reason = 'admin' WHERE id = $1", ts.Devices[1].DeviceID)
	if err := db.EraseDevice(t.Context(), ts.Devices[2].DeviceID, someone); err != nil {
		t.Fatal(err)
	}
	if claims := claimTests(t, db, ts.ID, 1); len(claims) != 1 || claims[0].DeviceID != ts.Devices[3].DeviceID {
		t.Errorf("claims %+v, want the fourth device", claims)
	}
	expect(t, db, ts.ID, false, "skipped no_consent", "skipped device_disabled", "skipped device_erased", "sending")

	none := newTestSend(t, db, 1)
	exec(t, db, "UPDATE device SET consent = false")
	if claims := claimTests(t, db, none.ID, 1); len(claims) != 0 {
		t.Errorf("claims %+v", claims)
	}
	expect(t, db, none.ID, true, "skipped no_consent")
}

// Many workers claim at once: each device is claimed by one of them, once.
func TestTestSendClaimedOnce(t *testing.T) {
	db := newDB(t)
	ts := newTestSend(t, db, 40)
	var mu sync.Mutex
	claimed := map[int64]int{}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for {
				claims, err := db.ClaimTestSend(t.Context(), ts.ID, 3, time.Minute)
				if err != nil {
					t.Error(err)
				}
				if len(claims) == 0 {
					return
				}
				var results []TestResult
				mu.Lock()
				for _, c := range claims {
					claimed[c.DeviceID]++
					results = append(results, result(c, "sent", ""))
				}
				mu.Unlock()
				if err := db.RecordTestSend(t.Context(), results); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, d := range ts.Devices {
		if claimed[d.DeviceID] != 1 {
			t.Errorf("device %d was claimed %d times", d.DeviceID, claimed[d.DeviceID])
		}
	}
	list, finished := statusOf(t, db, ts.ID)
	if list = slices.Compact(list); !slices.Equal(list, []string{"sent"}) || !finished {
		t.Errorf("ended as %q, finished %v", list, finished)
	}
}

// A result counts only under the claim that it was made under.
func TestTestSendFence(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	ts := newTestSend(t, db, 2)
	claims := claimTests(t, db, ts.ID, 2)
	old := result(claims[0], "sent", "")
	old.Fence--
	if err := db.RecordTestSend(ctx, []TestResult{old}); err != nil {
		t.Fatal(err)
	}
	expect(t, db, ts.ID, false, "sending", "sending")

	// Two results at once, and then a second word on one: the first stands.
	first := []TestResult{result(claims[0], "sent", ""), result(claims[1], "failed", "vendor_error")}
	for _, list := range [][]TestResult{first, first, {result(claims[0], "failed", "timeout")}} {
		if err := db.RecordTestSend(ctx, list); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, db, ts.ID, true, "sent", "failed vendor_error")
	if err := db.RecordTestSend(ctx, nil); err != nil {
		t.Errorf("no results: %v", err)
	}
}

func TestTestSendFeeder(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	term, err := db.Lead(ctx, "me", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ts := newTestSend(t, db, 2)
	open := func(t2 Term, stale time.Duration, want ...TestRing) {
		t.Helper()
		rings, err := db.OpenTestSends(ctx, t2, stale)
		if err != nil || !slices.Equal(rings, want) {
			t.Errorf("open: %v, %v; want %v", rings, err, want)
		}
	}
	ring := TestRing{ID: ts.ID, Ring: 1}
	open(term+1, 0) // another's term
	open(term, time.Minute, ring)
	open(term, time.Minute, ring) // not marked: the same again
	if err := db.MarkTestSendsRung(ctx, term+1, []TestRing{ring}); err != nil {
		t.Fatal(err)
	}
	open(term, time.Minute, ring) // another's mark does not count
	if err := db.MarkTestSendsRung(ctx, term, []TestRing{ring}); err != nil {
		t.Fatal(err)
	}
	open(term, time.Minute)
	again := TestRing{ID: ts.ID, Ring: 2}
	open(term+1, 0) // another may not raise the number
	open(term, 0, again)
	if err := db.MarkTestSendsRung(ctx, term, []TestRing{ring}); err != nil {
		t.Fatal(err)
	}
	open(term, time.Minute, again) // a mark of the old number does not count
	if err := db.MarkTestSendsRung(ctx, term, []TestRing{again}); err != nil {
		t.Fatal(err)
	}

	// A holder that died: its call is never made again.
	claims := claimTests(t, db, ts.ID, 2)
	if err := db.RecordTestSend(ctx, []TestResult{result(claims[0], "sent", "")}); err != nil {
		t.Fatal(err)
	}
	open(term, 0) // nothing waits: nothing to ring
	expect(t, db, ts.ID, false, "sent", "sending")
	exec(t, db, "UPDATE test_send_device SET lease_until = now() - interval '1 second' WHERE status = 'sending'")
	open(term+1, 0)
	expect(t, db, ts.ID, false, "sent", "sending")
	open(term, 0)
	expect(t, db, ts.ID, true, "sent", "unknown holder_lost")
	if err := db.RecordTestSend(ctx, []TestResult{result(claims[1], "sent", "")}); err != nil {
		t.Fatal(err)
	}
	expect(t, db, ts.ID, true, "sent", "unknown holder_lost")
	if claims := claimTests(t, db, ts.ID, 2); len(claims) != 0 {
		t.Errorf("claimed again: %+v", claims)
	}
}

func TestLastTestDevicesAreTheSendersOwn(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	seed(t, db, 4)
	other := Actor{ID: "user:2", Name: "lee@example.com", Role: Operator}
	if ids := must(db.LastTestDevices(ctx, someone.ID))(t); len(ids) != 0 {
		t.Errorf("before any test: %v", ids)
	}
	must(db.CreateTestSend(ctx, "t", "b", "", []int64{4}, someone))(t)
	must(db.CreateTestSend(ctx, "t", "b", "", []int64{3, 1}, someone))(t)
	must(db.CreateTestSend(ctx, "t", "b", "", []int64{2}, other))(t)
	if ids := must(db.LastTestDevices(ctx, someone.ID))(t); !slices.Equal(ids, []int64{1, 3}) {
		t.Errorf("the last one's are %v, want 1 and 3", ids)
	}
}
