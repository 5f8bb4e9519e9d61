package jobs

import "time"

// Times that the feeder and the worker keep and that nobody can set. The program
// holds them against its other limits when it starts.
const (
	FeederLease   = 5 * time.Second        // another feeder takes over after this
	FeederTurn    = time.Second            // how often the turn is prolonged
	StepDownLimit = time.Second            // for giving the turn away at the end
	WorkerBeat    = 2 * time.Second        // how often a worker says that it lives
	SignOffLimit  = 2 * time.Second        // for a worker to take itself off the list
	RecordLimit   = 5 * time.Second        // from a call's end to its committed result
	RangeTouch    = time.Second            // how often a task says that it is at its range
	RangeQuiet    = 4 * time.Second        // a range that nobody touched for so long is rung again
	ProbeEvery    = 2 * time.Second        // how often a vendor that is out of order is tried
	VendorLook    = 250 * time.Millisecond // how often a worker looks whether it is its turn to try
)
