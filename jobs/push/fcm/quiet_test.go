package pushfcm_test

import (
	"log"
	"testing"
)

// quiet is a log for a server whose complaints belong to the test.
func quiet(t *testing.T) *log.Logger { return log.New(t.Output(), "", 0) }
