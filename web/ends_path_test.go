package web

import (
	"testing"

	"bongsu/db"
)

// What stands in a path in the place of a number is not repeated in the log: it may
// be a token.
func TestLogRepeatsNoPath(t *testing.T) {
	x := newRig(t)
	x.send("GET", "/devices/fcm-token-in-the-path", "")
	x.call(db.Admin, "GET", "/devices/fcm-token-in-the-path", "")
	eventually(t, "both are logged", func() bool { return len(x.log.of("request was answered")) >= 2 })
	for _, l := range x.log.of("request was answered") {
		for name, value := range l {
			if s, ok := value.(string); ok && s == "fcm-token-in-the-path" {
				t.Errorf("the log has it as %s", name)
			}
		}
	}
}
