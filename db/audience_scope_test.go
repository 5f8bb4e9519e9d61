package db

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestAudienceScopes(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	put(t, db, DeviceInput{Token: "h1", Platform: "ios", Tags: &[]string{"vip"}})
	put(t, db, DeviceInput{Token: "f1", Platform: "ios", Vendor: new("fcm")})
	put(t, db, DeviceInput{Token: "f2", Platform: "android", Vendor: new("fcm"), Tags: &[]string{"vip"}})
	put(t, db, DeviceInput{Token: "f3", Platform: "android", Vendor: new("fcm")})
	put(t, db, DeviceInput{Token: "f4", Platform: "android", Vendor: new("fcm"), Consent: new(false)})
	put(t, db, DeviceInput{Token: "ab", Platform: "ios", Vendor: new("apns"), Environment: new("sandbox")})
	put(t, db, subscribed(t, "https://Push.example.com:444/1"))
	put(t, db, subscribed(t, "https://push.example.com:444/2"))
	put(t, db, subscribed(t, "https://other.example.com/2"))
	gone := put(t, db, subscribed(t, "https://gone.example.com/2"))
	ok(t, db.EraseDevice(ctx, gone.ID, someone))
	for name, c := range map[string]struct {
		a    Audience
		want []ScopeCount
	}{
		"all": {Audience{}, []ScopeCount{{"apns:sandbox", "apns", 1}, {"fcm:android", "fcm", 2}, {"fcm:ios", "fcm", 1}, {"http", "http", 1},
			{"webpush:other.example.com", "webpush", 1}, {"webpush:push.example.com:444", "webpush", 2}}},
		"one platform": {Audience{Platforms: []string{"android"}}, []ScopeCount{{"fcm:android", "fcm", 2}}},
		"a tag":        {Audience{Tags: []string{"vip"}}, []ScopeCount{{"fcm:android", "fcm", 1}, {"http", "http", 1}}},
		"nobody":       {Audience{Tags: []string{"none"}}, []ScopeCount{}},
	} {
		if diff := cmp.Diff(c.want, must(db.AudienceScopes(ctx, c.a))(t)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := db.AudienceScopes(ctx, Audience{Tags: []string{"a\x00"}}); fieldsOf(err) != "audience" {
		t.Errorf("a tag that cannot be: %v", err)
	}
}

// The index holds all that is asked for: the planner may read it alone, and does so
// where the table is large.
func TestAudienceScopesNeedTheIndexAlone(t *testing.T) {
	db := newDB(t)
	seed(t, db, 1000)
	conn := must(db.pool.Acquire(t.Context()))(t)
	defer conn.Release()
	must(conn.Exec(t.Context(), "SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_custom_plan"))(t)
	rows := must(conn.Query(t.Context(), "EXPLAIN "+audienceScopes, []string{"ios"}, []string{"vip"}))(t)
	plan := strings.Join(must(pgx.CollectRows(rows, pgx.RowTo[string]))(t), "\n")
	must(conn.Exec(t.Context(), "RESET ALL"))(t)
	if !strings.Contains(plan, "Index Only Scan using device_audience") {
		t.Error(plan)
	}
}
