package jobs

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestRestBeginsWhenPostgresIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rest{length: 10 * time.Second}
		r.saw(nil)
		if r.lasts() {
			t.Error("it lasts, and nothing happened")
		}
		for range 30 { // an outage, much longer than the rest
			r.saw(context.DeadlineExceeded)
			time.Sleep(time.Second)
			if !r.lasts() {
				t.Fatal("a lease may be freed while Postgres is away")
			}
		}
		time.Sleep(20 * time.Second) // the last error is long ago
		r.saw(nil)
		time.Sleep(9 * time.Second)
		if !r.lasts() {
			t.Error("it counts from the last error")
		}
		r.saw(nil)
		time.Sleep(2 * time.Second)
		if r.lasts() {
			t.Error("it does not end")
		}
	})
}

func TestRestIgnoresWhatIsNoOutage(t *testing.T) {
	for name, err := range map[string]error{
		"a slow statement": &pgconn.PgError{Code: "57014"}, "a lock": &pgconn.PgError{Code: "55P03"},
		"a deadlock": &pgconn.PgError{Code: "40P01"}, "our own": errors.New("no such thing"), "stopping": context.Canceled,
	} {
		r := rest{length: time.Hour}
		if r.saw(err); r.lasts() {
			t.Errorf("%s keeps leases", name)
		}
	}
	r := rest{length: time.Hour}
	if r.saw(io.ErrUnexpectedEOF); !r.lasts() {
		t.Error("a connection that broke is no outage")
	}
}
