package views

// Status is the page that says how everything is.
type Status struct {
	Shell
	Live StatusLive
	// The time limits, the outermost first.
	Ladder []Limit
}

// StatusLive is the part that is asked for again.
type StatusLive struct {
	LookedAt string
	Items    []StatusRow
	Workers  []WorkerRow
}

// StatusRow is one thing and how it is. Key is database, redis, vendor,
// workers, feeder or backlog; State is ok, warn or down.
type StatusRow struct {
	Key, State string
	Facts      string // numbers and words, already put together
	Since      string // since when it is so; empty: not known
}

// WorkerRow is one process that sends.
type WorkerRow struct {
	ID, StartedAt, SeenAt, Version string
	InFlight, Slots                int64
}

// Limit is one step of the ladder of time limits.
type Limit struct {
	Name, Value string
	Longer      string // what it must be longer than, in words; empty: nothing
	OK          bool
}

type statusText struct {
	Title, Caption, Thing, State, Means, Since, Workers, Worker, Started, Seen, Calls, Version string
	NoWorker, NoWorkerHint, Ladder, LadderHint, Limit, Value, Longer, Holds, Yes, No, LookedAt string
}

func statusWords() statusText {
	return statusText{
		Title: "Status", Caption: "How everything is", Thing: "Part", State: "State", Means: "What it means for you", Since: "Since",
		Workers: "Workers", Worker: "Worker", Started: "Started", Seen: "Last seen", Calls: "Calls in flight", Version: "Version",
		NoWorker: "No worker is running.", NoWorkerHint: "Notices are accepted and wait. Start bongsu serve with the role worker or all.",
		Ladder: "Time limits, from the outside in", LadderHint: "An outer limit must be longer than those inside it together, else Bongsu does not start.",
		Limit: "Limit", Value: "Value", Longer: "Must be longer than", Holds: "Holds", Yes: "yes", No: "no", LookedAt: "as of",
	}
}

func statusName(key string) string {
	words := map[string]string{
		"database": "Database", "redis": "Queue (Redis)", "vendor": "Vendor", "workers": "Workers", "feeder": "Feeder", "backlog": "Backlog",
	}
	if w, ok := words[key]; ok {
		return w
	}
	return key
}

// statusMeans says in one line what a state means for the person reading.
func statusMeans(key, state string) string {
	ok := state == "ok"
	switch {
	case key == "database" && ok:
		return "Notices are accepted and every result is recorded."
	case key == "database":
		return "Nothing can be accepted or looked up until it is back. What was accepted is safe, and sending goes on by itself."
	case key == "redis" && ok:
		return "Tasks reach the workers."
	case key == "redis":
		return "Notices are accepted as ever, but sending waits. Nothing is lost; it goes on by itself when the queue is back."
	case key == "vendor" && ok:
		return "Calls are made and answered."
	case key == "vendor":
		return "Calls are paused. What waits is neither lost nor charged. The banner above says what to do."
	case key == "workers" && ok:
		return "Notices are being sent as they come."
	case key == "workers":
		return "Notices are accepted and wait until a worker is started."
	case key == "feeder" && ok:
		return "Work is handed out."
	case key == "feeder":
		return "No process hands out work. Another takes over within seconds; if this stays, start a worker."
	case key == "backlog" && ok:
		return "What waits is young."
	case key == "backlog":
		return "Deliveries have been due for a while. Look at the vendor and the workers above."
	default:
		return ""
	}
}
