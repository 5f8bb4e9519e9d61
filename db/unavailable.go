package db

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
)

// Unavailable says whether err means that the database could not be reached, or
// not in time, so that the same call may well work later. An error that the
// call itself is to blame for is not one.
func Unavailable(err error) bool {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) { // whatever the server said: it let nobody in
		return true
	}
	if code := pgCode(err); code != "" {
		switch code[:2] {
		case "08", "53", "57": // connection, resources, operator intervention and timeouts
			return true
		}
		return code == "25006" || code == "55P03" || code == "40001" || code == "40P01" || code == "25P03"
	}
	var network net.Error
	return errors.As(err, &network) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, puddle.ErrClosedPool) ||
		err != nil && strings.Contains(err.Error(), "conn closed")
}
