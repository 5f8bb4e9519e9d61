package web

import (
	"testing"
	"time"

	"bongsu/db"
)

func TestPagesAskLessOftenInTime(t *testing.T) {
	x := newSite(t, db.Operator, nil)
	x.devices(3)
	at := x.post("/notices", "title", "Long", "body", "Text", "category", "info").at
	for age, want := range map[time.Duration]string{0: "every 1s", 2 * time.Minute: "every 2s", time.Hour: "every 5s"} {
		x.sql(`UPDATE notice SET state_at = now() - $1::interval`, age)
		if got := x.get(at).Find("#progress").AttrOr("hx-trigger", ""); got != want {
			t.Errorf("after %v the page asks %q, want %q", age, got, want)
		}
	}
}
