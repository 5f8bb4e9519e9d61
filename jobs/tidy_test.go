package jobs

import (
	"testing"
	"time"

	"bongsu/jobs/push/pushsim"
)

// What has ended by itself is removed by the feeder, and what has not stays.
func TestExpiredSessionsAndTriesAreRemoved(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	_, err := h.pool.Exec(t.Context(), `
		INSERT INTO web_session (token_hash, data, expires_at) VALUES ('old', '', now() - interval '2 hours'), ('live', '', now() + interval '2 hours');
		INSERT INTO sign_in_budget (key, full_at) VALUES ('old', now() - interval '1 second'), ('live', now() + interval '2 hours')`)
	h.no(err)
	h.process(nil)
	h.eventually(20*time.Second, "only what lives is left", func() bool {
		var left string
		h.no(h.pool.QueryRow(t.Context(), `SELECT (SELECT string_agg(convert_from(token_hash, 'UTF8'), ' ') FROM web_session) || ' ' ||
			(SELECT string_agg(convert_from(key, 'UTF8'), ' ') FROM sign_in_budget)`).Scan(&left))
		return left == "live live"
	})
}
