package pushfcm_test

import (
	"testing"
	"time"

	"bongsu/jobs/push/bareloop"
	pushfcm "bongsu/jobs/push/fcm"
	"bongsu/jobs/push/pushsim"
)

// BenchmarkSend is the bare loop with both sides in this process.
func BenchmarkSend(b *testing.B) {
	b.Run("instant", func(b *testing.B) { benchmarkSend(b, pushsim.Switches{}) })
	b.Run("30ms", func(b *testing.B) { benchmarkSend(b, pushsim.Default().Switches) })
}

func benchmarkSend(b *testing.B, sw pushsim.Switches) {
	sim, err := pushsim.Start(pushsim.Config{Switches: sw})
	if err != nil {
		b.Fatal(err)
	}
	defer sim.Close()
	key, err := sim.NewFCMKey(project, sim.FCMURL())
	if err != nil {
		b.Fatal(err)
	}
	v, err := pushfcm.New(pushfcm.Config{Key: key, URL: sim.FCMURL(), Timeout: 10 * time.Second, MaxInFlight: inFlight})
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	bareloop.Loop(b.Context(), v, inFlight, inFlight) // dials
	b.ReportAllocs()
	b.ResetTimer()
	elapsed, sent := bareloop.Loop(b.Context(), v, b.N, inFlight)
	b.StopTimer()
	if sent != b.N {
		b.Fatalf("%d of %d were sent; the vendor counted %+v", sent, b.N, sim.Counts())
	}
	b.ReportMetric(float64(b.N)/elapsed.Seconds(), "calls/s")
}
