package views

import (
	"fmt"

	"bongsu/views/ui"
)

type statusText struct {
	Title, Caption, Thing, State, Means, Since, Workers, Worker, Started, Seen, Calls, Version string
	NoWorker, NoWorkerHint, Ladder, LadderHint, Limit, Value, Longer, Holds, Yes, No, LookedAt string
	AllWell, NotKnown, Runbook, NextTry, Lost, Alive, Setting, All, TookLast                   string
}

func statusWords() statusText {
	return statusText{
		Title: "Status", Caption: "How everything is", Thing: "Part", State: "State", Means: "What it means for you", Since: "Since",
		Workers: "Workers", Worker: "Worker", Started: "Started", Seen: "Last heartbeat", Calls: "Calls in flight", Version: "Version",
		NoWorker: "No worker is running.", NoWorkerHint: "Notices are accepted and wait. Start bongsu serve with the role worker or all.",
		Ladder: "Time limits, from the outside in", LadderHint: "An outer limit must be longer than those inside it together, else Bongsu does not start.",
		Limit: "Limit", Value: "Value", Longer: "Must be longer than", Holds: "Holds", Yes: "yes", No: "no", LookedAt: "as of",
		AllWell: "all well", NotKnown: "not known", Runbook: "What to do", NextTry: "next try", TookLast: "it took a message last at", Lost: "gone", Alive: "alive",
		Setting: "Set by", All: "All messages, and what to do",
	}
}

// badgeText says what is down, and what that stops.
func badgeText(r StatusRow) string {
	words := map[string]string{
		"database-down": "database away", "database-read-only": "nothing can be written: database read-only",
		"disk-full": "nothing can be written: disk full", "database-connections": "database has no connection left",
		"redis-down": "sending waits: queue away", "redis-full": "sending waits: queue full",
		"vendor-credentials": "sending waits: vendor refuses us", "vendor-refusals": "sending waits: vendor refuses most",
		"vendor-outage": "sending waits: vendor out of order",
		"no-worker":     "sending waits: no worker", "no-feeder": "sending waits: no feeder",
	}
	if w, ok := words[r.Message]; ok {
		return w
	}
	return statusName(r.Key) + " " + r.State
}

func statusName(key string) string {
	words := map[string]string{
		"database": "Database", "redis": "Queue (Redis)", "vendor": "Vendor", "workers": "Workers", "feeder": "Feeder", "backlog": "Backlog",
		"notices": "Notices", "disk": "Disk",
	}
	if w, ok := words[key]; ok {
		return w
	}
	return key
}

// statusMeans says in one line what a state means that no message explains.
func statusMeans(key, state string) string {
	if state == StateUnknown && key == "redis" {
		return "Whether tasks reach the workers cannot be known just now."
	}
	if state == StateUnknown {
		return "This cannot be known just now. Nothing is lost by that."
	}
	return map[string]string{
		"database": "Notices are accepted and every result is recorded.",
		"redis":    "It takes tasks.",
		"vendor":   "It may be called.",
		"workers":  "Somebody is there to send what is due.",
		"feeder":   "Somebody looks after what is due.",
		"backlog":  "What waits is young.",
		"notices":  "Whatever has something to do does it.",
		"disk":     "The database can grow.",
	}[key]
}

// DatabaseFacts says how fast the database answered, in milliseconds.
func DatabaseFacts(ms int64) string { return "answered in " + ui.Millis(ms) }

// ConditionFacts says how large the database is and how many use it.
func ConditionFacts(bytes, conns, most int64) string {
	return fmt.Sprintf("%s large; %s of %s connections in use", ui.Bytes(bytes), ui.Num(conns), ui.Num(most))
}

// DiskFacts says how much room there is.
func DiskFacts(free, total int64) string {
	return fmt.Sprintf("%s of %s free", ui.Bytes(free), ui.Bytes(total))
}

// MemoryFacts says how much Redis uses of what it may; 0: as much as there is.
func MemoryFacts(used, most int64) string {
	if most == 0 {
		return ui.Bytes(used) + " of memory in use, without a limit"
	}
	return ui.Bytes(used) + " of " + ui.Bytes(most) + " of memory in use"
}

// WaitingFacts says how much waits, and that it is safe.
func WaitingFacts(deliveries int64) string {
	return ui.Of(deliveries, "delivery waits", "deliveries wait") + " in the database, none is lost"
}

// AheadFacts says how many notices are not gone through yet, and about how many devices
// are still to come in them; 0: that is not known. It is empty where there is none.
func AheadFacts(notices, devices int64) string {
	if notices == 0 {
		return ""
	}
	s := ui.Of(notices, "notice is", "notices are") + " not gone through yet"
	if devices > 0 {
		s += " (about " + ui.Of(devices, "device", "devices") + " to come)"
	}
	return s
}

// WorkerFacts says how many workers run and what they do.
func WorkerFacts(workers, calls, slots int64) string {
	return fmt.Sprintf("%s running, %s of %s calls in flight", ui.Num(workers), ui.Num(calls), ui.Num(slots))
}

// BacklogFacts says how much is not at its end.
func BacklogFacts(deliveries, notices int64) string {
	return ui.Of(deliveries, "delivery waits or is", "deliveries wait or are") + " under way in " + ui.Of(notices, "notice", "notices")
}

// OldestFacts says for how many seconds the oldest of it has been due.
func OldestFacts(seconds int64) string { return "the oldest has been due for " + ui.Span(seconds) }

// StalledFacts says how many notices do not move.
func StalledFacts(n int64) string { return ui.Of(n, "notice does", "notices do") + " not move" }
