package web

import (
	"testing"

	"bongsu/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
