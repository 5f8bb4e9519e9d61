package pushhttp_test

import (
	"testing"
	"time"

	"bongsu/jobs/push/bareloop"
	pushhttp "bongsu/jobs/push/http"
	"bongsu/jobs/push/pushsim"
)

const benchInFlight = 256

// BenchmarkSend is the bare loop with both sides in this process.
func BenchmarkSend(b *testing.B) {
	b.Run("instant", func(b *testing.B) { benchmarkSend(b, pushsim.Switches{}) })
	b.Run("30ms", func(b *testing.B) { benchmarkSend(b, pushsim.Default().Switches) })
}

func benchmarkSend(b *testing.B, sw pushsim.Switches) {
	sim, err := pushsim.Start(pushsim.Config{Token: "secret", Switches: sw})
	if err != nil {
		b.Fatal(err)
	}
	defer sim.Close()
	v, err := pushhttp.New(pushhttp.Config{URL: sim.URL(), Token: "secret", Timeout: 10 * time.Second, MaxInFlight: benchInFlight})
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	bareloop.Loop(b.Context(), v, benchInFlight, benchInFlight) // dials
	b.ReportAllocs()
	b.ResetTimer()
	elapsed, sent := bareloop.Loop(b.Context(), v, b.N, benchInFlight)
	b.StopTimer()
	if sent != b.N {
		b.Fatalf("%d of %d were sent; the vendor counted %+v", sent, b.N, sim.Counts())
	}
	b.ReportMetric(float64(b.N)/elapsed.Seconds(), "calls/s")
}
