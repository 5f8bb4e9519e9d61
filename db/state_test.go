package db

import (
	"regexp"
	"slices"
	"testing"
)

func TestNextIsTheStateTable(t *testing.T) {
	for _, x := range []struct {
		outcome                string
		doubt, hold, exhausted bool
		want                   Move
	}{
		{OutcomeSent, false, false, false, Move{"sent", false}},
		{OutcomeSent, false, true, true, Move{"sent", false}},
		{OutcomePermanent, false, false, false, Move{"failed", false}},
		{OutcomeDead, false, true, false, Move{"failed", false}},
		{OutcomeSuspect, false, false, false, Move{"failed", false}},
		{OutcomeWait, false, false, true, Move{"pending", false}},
		{OutcomeSettings, false, true, true, Move{"pending", false}},
		{OutcomeTransient, false, false, false, Move{"pending", true}},
		{OutcomeTransient, false, false, true, Move{"failed", true}},
		{OutcomeTransient, false, true, false, Move{"pending", true}},
		{OutcomeTransient, false, true, true, Move{"failed", true}},
		{OutcomeTransient, true, false, false, Move{"pending", true}},
		{OutcomeTransient, true, false, true, Move{"failed", true}},
		{OutcomeTransient, true, true, false, Move{"unknown", true}},
		{OutcomeTransient, true, true, true, Move{"unknown", true}},
		{OutcomeLost, true, false, false, Move{"pending", false}},
		{OutcomeLost, true, false, true, Move{"failed", false}},
		{OutcomeLost, true, true, false, Move{"unknown", false}},
		{OutcomeLost, true, true, true, Move{"unknown", false}},
	} {
		if got := Next(x.outcome, x.doubt, x.hold, x.exhausted); got != x.want {
			t.Errorf("%s, doubt %v, hold %v, exhausted %v: %+v, want %+v", x.outcome, x.doubt, x.hold, x.exhausted, got, x.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an outcome that there is not has a next state")
		}
	}()
	Next("lucky", false, false, false)
}

// Every status with every reason, one from outside and none, against the CHECK.
func TestReasonsAreThoseOfTheConstraint(t *testing.T) {
	db := newDB(t)
	check := ask[string](t, db, `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'delivery_reason'`)
	all := []string{"", "made_up"}
	for _, m := range regexp.MustCompile(`'([a-z_]+)'`).FindAllStringSubmatch(check, -1) {
		all = append(all, m[1]) // statuses too: none of them is a reason
	}
	for _, list := range Reasons {
		all = append(all, list...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) < 15 {
		t.Fatalf("the constraint could not be read: %s", check)
	}
	mayHaveNone := []string{"sent", "pending", "sending"}
	if len(Reasons) != len(Statuses) {
		t.Fatalf("reasons for %d statuses, there are %d", len(Reasons), len(Statuses))
	}
	device := 0
	for _, status := range Statuses {
		for _, reason := range all {
			device++
			_, err := db.pool.Exec(t.Context(), `INSERT INTO delivery (notice_id, device_id, status, reason, lease_until, failed_at, sent_at)
				VALUES (1, $1, $2, nullif($3, ''), CASE $2 WHEN 'sending' THEN now() END, CASE $2 WHEN 'failed' THEN now() END,
					CASE $2 WHEN 'sent' THEN now() END)`, device, status, reason)
			want := slices.Contains(Reasons[status], reason) || reason == "" && slices.Contains(mayHaveNone, status)
			if (err == nil) != want || err != nil && pgCode(err) != "23514" {
				t.Errorf("status %s, reason %q: %v, the list says %v", status, reason, err, want)
			}
		}
	}
	if _, err := db.pool.Exec(t.Context(), `INSERT INTO delivery (notice_id, device_id, status) VALUES (1, 0, 'lost')`); pgCode(err) != "23514" {
		t.Errorf("a status that there is not: %v", err)
	}
}
