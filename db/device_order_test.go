package db

import (
	"fmt"
	"testing"
)

// Ids follow the order of a list, so that whoever reads them in that order finds
// the devices as they were given.
func TestPutDevicesNumbersInOrder(t *testing.T) {
	db := newDB(t)
	in := make([]DeviceInput, 200)
	for i := range in {
		in[i] = DeviceInput{Token: fmt.Sprintf("token-%d", i), Platform: "web"}
	}
	list, err := db.PutDevices(t.Context(), in, someone)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(list); i++ {
		if list[i].ID <= list[i-1].ID {
			t.Fatalf("device %d has id %d after %d", i, list[i].ID, list[i-1].ID)
		}
	}
}
