package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"bongsu/web"
)

// Limits holds every time limit of the product, for main to hand to the parts
// that keep them. Those that nobody can set are fixed here and nowhere else.
type Limits struct {
	Browser     time.Duration // a page gives up waiting for an answer
	Proxy       time.Duration // a proxy in front may give up
	Handler     time.Duration // one request, from its header to its answer
	PoolWait    time.Duration // for a connection of the database's pool
	Transaction time.Duration // a whole transaction
	Lock        time.Duration // for one lock in it
	Upload      time.Duration // a file that comes or goes, as a whole
	UploadIdle  time.Duration // within one, without a byte

	RangeTask  time.Duration // one task of the first wave, or of an import
	ImportStep time.Duration // one transaction of an import
	Lease      time.Duration // a claim on a delivery
	VendorCall time.Duration // one call
	Record     time.Duration // from a call's end to its committed result
	RedisWord  time.Duration // one word with Redis

	Grace   time.Duration // from SIGTERM to our own end
	Outside time.Duration // what stops the process from outside waits
}

// limitsOf returns the limits under the configuration.
func limitsOf(c Config) Limits {
	return Limits{
		Browser:     15 * time.Second,
		Proxy:       12 * time.Second,
		Handler:     10 * time.Second,
		PoolWait:    2 * time.Second,
		Transaction: 6 * time.Second,
		Lock:        3 * time.Second,
		Upload:      30 * time.Minute,
		UploadIdle:  30 * time.Second,
		RangeTask:   120 * time.Second,
		ImportStep:  60 * time.Second,
		Lease:       c.Lease,
		VendorCall:  c.VendorTimeout,
		Record:      5 * time.Second,
		RedisWord:   time.Second,
		Grace:       20 * time.Second,
		Outside:     30 * time.Second,
	}
}

// A limit is one time limit with its name and the variable that sets it, which
// is empty where it is fixed.
type limit struct {
	name     string
	value    time.Duration
	variable string
}

// A rung says that a limit must be longer than others together.
type rung struct {
	outer limit
	inner []limit
}

// ladder returns what must hold, the outermost first.
func (l Limits) ladder() []rung {
	browser := limit{name: "browser", value: l.Browser}
	proxy := limit{name: "proxy", value: l.Proxy}
	handler := limit{name: "server handler", value: l.Handler}
	wait := limit{name: "database pool wait", value: l.PoolWait}
	transaction := limit{name: "transaction", value: l.Transaction}
	lock := limit{name: "lock wait", value: l.Lock}
	task := limit{name: "range task", value: l.RangeTask}
	lease := limit{"lease", l.Lease, "BONGSU_LEASE"}
	call := limit{"vendor call", l.VendorCall, "BONGSU_VENDOR_TIMEOUT"}
	record := limit{name: "recording", value: l.Record}
	redis := limit{name: "one word with Redis", value: l.RedisWord}
	grace := limit{name: "shutdown grace", value: l.Grace}
	outside := limit{name: "stop from outside", value: l.Outside}
	upload := limit{name: "upload", value: l.Upload}
	idle := limit{name: "upload without a byte", value: l.UploadIdle}
	step := limit{name: "import step", value: l.ImportStep}
	return []rung{
		{browser, []limit{proxy}},
		{proxy, []limit{handler}},
		{handler, []limit{wait, transaction, redis}},
		{transaction, []limit{lock}},
		{upload, []limit{idle, wait, transaction}},
		{idle, []limit{wait, transaction}},
		{task, []limit{wait, step}},
		{outside, []limit{grace}},
		{grace, []limit{call, record}},
		{task, []limit{lease}},
		{lease, []limit{call, record}},
	}
}

// check fails where an outer limit is not longer than its inner ones together.
// Each line of the error names the pair, the values and what to change.
func (l Limits) check() error {
	var problems []error
	for _, r := range l.ladder() {
		if !r.ok() {
			problems = append(problems, fmt.Errorf("time limits: %s (%s) must be longer than %s (%s): %s",
				r.outer.name, r.outer.value, r.innerNames(), r.innerSum(), r.remedy()))
		}
	}
	return errors.Join(problems...)
}

func (r rung) ok() bool { return r.outer.value > r.innerSum() }

func (r rung) innerSum() (sum time.Duration) {
	for _, l := range r.inner {
		sum += l.value
	}
	return sum
}

func (r rung) innerNames() string {
	var names []string
	for _, l := range r.inner {
		names = append(names, l.name)
	}
	return strings.Join(names, " + ")
}

// remedy says which variable to raise or lower.
func (r rung) remedy() string {
	var ways []string
	if r.outer.variable != "" {
		ways = append(ways, "raise "+r.outer.variable)
	}
	for _, l := range r.inner {
		if l.variable != "" {
			ways = append(ways, "lower "+l.variable)
		}
	}
	if len(ways) == 0 {
		return "both are fixed in the program"
	}
	return strings.Join(ways, " or ")
}

// steps returns the ladder as the Status page shows it.
func (l Limits) steps() []web.LadderStep {
	var steps []web.LadderStep
	for _, r := range l.ladder() {
		steps = append(steps, web.LadderStep{
			Name:   r.outer.name,
			Value:  r.outer.value,
			Longer: fmt.Sprintf("%s (%s)", r.innerNames(), r.innerSum()),
			OK:     r.ok(),
		})
	}
	return steps
}
