package bareloop_test

import (
	"context"
	"testing"

	"bongsu/jobs/push/bareloop"
	pushhttp "bongsu/jobs/push/http"
	"bongsu/jobs/push/pushsim"
)

func TestLoop(t *testing.T) {
	sim, err := pushsim.Start(pushsim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	v, err := pushhttp.New(pushhttp.Config{URL: sim.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	elapsed, sent := bareloop.Loop(t.Context(), v, 500, 16)
	if n := sim.Counts(); sent != 500 || elapsed <= 0 || n.Unique != 500 || n.Delivered != 500 || n.MaxInFlight > 16 {
		t.Errorf("%d sent in %v, counted %+v", sent, elapsed, n)
	}
	if _, sent := bareloop.Loop(t.Context(), v, 3, 16); sent != 3 {
		t.Errorf("%d of 3 were sent", sent)
	}
	if err := sim.Update(func(sw *pushsim.Switches) { sw.Outage = true }); err != nil {
		t.Fatal(err)
	}
	if _, sent := bareloop.Loop(t.Context(), v, 50, 16); sent != 0 {
		t.Errorf("%d were sent in an outage", sent)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := sim.Counts().Calls
	if _, sent := bareloop.Loop(ctx, v, 50, 16); sent != 0 || sim.Counts().Calls != before {
		t.Errorf("%d were sent after the end", sent)
	}
}
