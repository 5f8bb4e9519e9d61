package db

// Outcomes of an attempt, as the ledger keeps them. All but Lost are a vendor's
// answer; Lost is a holder that died.
const (
	OutcomeSent      = "sent"
	OutcomeTransient = "transient"
	OutcomeWait      = "wait"
	OutcomePermanent = "permanent"
	OutcomeDead      = "dead"
	OutcomeUnfit     = "unfit"
	OutcomeSettings  = "settings"
	OutcomeSuspect   = "suspect"
	OutcomeLost      = "lost"
)

// MaxLost is how many holders a delivery may lose before it fails as
// outcome_unknown, so that one that kills its worker does not go round for ever.
const MaxLost = 5

// Move is where an attempt leaves a delivery.
type Move struct {
	Status  string
	Charged bool // it counts towards the end of the schedule
}

// Next is the state table of a delivery under way: what status an attempt of
// this outcome leads to. doubt says that nobody knows whether the call arrived,
// hold is the policy that leaves such a one to a person, and exhausted that this
// was the last try the schedule allows (or the last holder, for Lost).
func Next(outcome string, doubt, hold, exhausted bool) Move {
	switch outcome {
	case OutcomeSent:
		return Move{Status: "sent"}
	case OutcomePermanent, OutcomeDead, OutcomeSuspect, OutcomeUnfit:
		return Move{Status: "failed"}
	case OutcomeWait, OutcomeSettings:
		return Move{Status: "pending"}
	case OutcomeTransient, OutcomeLost:
		m := Move{Status: "pending", Charged: outcome == OutcomeTransient}
		switch {
		case doubt && hold:
			m.Status = "unknown"
		case exhausted:
			m.Status = "failed"
		}
		return m
	}
	panic("no such outcome: " + outcome)
}

// Reasons is the closed list of reasons for each status; a CHECK of the ledger
// holds the same. Sent has none; pending and sending may have none yet.
var Reasons = map[string][]string{
	"sent":    {},
	"failed":  {"token_expired", "rejected", "content_refused", "vendor_error", "timeout", "unreachable", "expired", "outcome_unknown"},
	"skipped": {"no_consent", "device_disabled", "device_erased", "cancelled"},
	"unknown": {"vendor_error", "timeout", "unreachable", "holder_lost"},
	"pending": {"vendor_error", "timeout", "unreachable", "rate_limited", "credentials_refused", "holder_lost"},
	"sending": {"vendor_error", "timeout", "unreachable", "rate_limited", "credentials_refused", "holder_lost"},
}
