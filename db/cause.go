package db

import (
	"context"
	"errors"
)

// Cause says what kind of trouble with the database an error tells of.
type Cause string

// The causes. NoCause is an error that is no trouble of the database's: its
// caller's own, a caller that left, or a lock that another try gets around.
const (
	NoCause  Cause = ""
	Away     Cause = "away"      // it refuses, is gone, or does not answer in time
	ReadOnly Cause = "read_only" // it takes no writes
	DiskFull Cause = "disk_full"
	Crowded  Cause = "crowded" // no connection is left
)

// CauseOf tells the cause of err.
func CauseOf(err error) Cause {
	code := pgCode(err)
	switch code {
	case "25006":
		return ReadOnly
	case "53100":
		return DiskFull
	case "53300":
		return Crowded
	case "55P03", "40001", "40P01", "57014":
		return NoCause
	}
	if err == nil || errors.Is(err, context.Canceled) || !Unavailable(err) {
		return NoCause
	}
	return Away
}
