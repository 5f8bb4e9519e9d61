package main

import (
	"time"

	"bongsu/db"
	"bongsu/jobs"
	pushhttp "bongsu/jobs/push/http"
	"bongsu/web"
)

// Limits holds every time limit of the product, for main to hand to the parts
// that keep them. Those that nobody can set are fixed here, or in the room that
// keeps them alone and exports them; nowhere else.
type Limits struct {
	Browser   time.Duration // a page gives up waiting for an answer
	Proxy     time.Duration // a proxy in front gives up; 0: there is none
	Handler   time.Duration // one request, from its header to its answer
	Header    time.Duration // the server waits for a request's header
	Read      time.Duration // the server waits for a whole request
	Write     time.Duration // an answer is cut off, counted from the request's header
	Idle      time.Duration // a connection without a request is kept
	Badge     time.Duration // a page waits for the badge in its header
	Look      time.Duration // one look at how the parts are
	QueueLook time.Duration // a page asks the queues
	Scrape    time.Duration // /metrics waits for the database

	Upload     time.Duration // a file that comes or goes, as a whole
	UploadIdle time.Duration // within one, without a byte
	ImportStep time.Duration // one transaction of an import

	PoolWait        time.Duration // for a connection of the database's pool
	Transaction     time.Duration // a whole transaction
	Lock            time.Duration // for one lock in it
	Statement       time.Duration // one statement in it
	IdleTransaction time.Duration // the database waits for the next statement of one
	Connect         time.Duration // a new connection to the database
	Ping            time.Duration // a connection that rested is asked whether it lives

	Enqueue    time.Duration // one word with Redis, with all that lies in it
	RedisPool  time.Duration // for a connection of Redis's pool
	RedisDial  time.Duration // a new connection to Redis
	RedisWrite time.Duration // a question leaves
	RedisRead  time.Duration // its answer comes

	RangeTask     time.Duration // one task: a range, retries, a test send
	Lease         time.Duration // a claim on a delivery
	VendorCall    time.Duration // one call
	VendorConnect time.Duration // its connection
	Record        time.Duration // from a call's end to its committed result
	FeederLease   time.Duration // a feeder's turn lasts
	FeederTurn    time.Duration // and is prolonged
	Quiet         time.Duration // a range that nobody touched is rung again
	Touch         time.Duration // a worker touches its range
	WorkerAlive   time.Duration // a worker that is not heard of counts as gone
	Beat          time.Duration // a worker is heard of
	Probe         time.Duration // between two tries of a vendor that is out of order
	VendorLook    time.Duration // between two looks whether one is due

	Grace    time.Duration // from SIGTERM to our own end
	StepDown time.Duration // in it: the feeder gives its turn away
	SignOff  time.Duration // in it: the worker takes itself off the list
	Outside  time.Duration // what stops the process from outside waits

	TraceFlush  time.Duration // at the end: for the spans that wait; 0, as the next: there are none
	TraceExport time.Duration // one batch of spans to the collector

	Reach time.Duration // bongsu check looks at one thing outside
}

// limitsOf returns the limits under the configuration.
func limitsOf(c Config) Limits {
	l := Limits{
		Browser:   15 * time.Second,
		Proxy:     c.ProxyTimeout,
		Handler:   10 * time.Second,
		Header:    5 * time.Second,
		Read:      10 * time.Second,
		Write:     11 * time.Second,
		Idle:      2 * time.Minute,
		Badge:     400 * time.Millisecond,
		Look:      2 * time.Second,
		QueueLook: 1500 * time.Millisecond,
		Scrape:    3 * time.Second,

		Upload:     30 * time.Minute,
		UploadIdle: 30 * time.Second,
		ImportStep: 60 * time.Second,

		PoolWait:        2 * time.Second,
		Transaction:     6 * time.Second,
		Lock:            3 * time.Second,
		Statement:       5500 * time.Millisecond,
		IdleTransaction: 5500 * time.Millisecond,
		Connect:         3 * time.Second,
		Ping:            time.Second,

		Enqueue:    3 * time.Second,
		RedisPool:  500 * time.Millisecond,
		RedisDial:  500 * time.Millisecond,
		RedisWrite: 500 * time.Millisecond,
		RedisRead:  time.Second,

		RangeTask:     120 * time.Second,
		Lease:         c.Lease,
		VendorCall:    c.VendorTimeout,
		VendorConnect: pushhttp.ConnectLimit(c.VendorTimeout),
		Record:        jobs.RecordLimit,
		FeederLease:   jobs.FeederLease,
		FeederTurn:    jobs.FeederTurn,
		Quiet:         jobs.RangeQuiet,
		Touch:         jobs.RangeTouch,
		WorkerAlive:   db.WorkerAlive,
		Beat:          jobs.WorkerBeat,
		Probe:         jobs.ProbeEvery,
		VendorLook:    jobs.VendorLook,

		Grace:    20 * time.Second,
		StepDown: jobs.StepDownLimit,
		SignOff:  jobs.SignOffLimit,
		Outside:  c.StopTimeout,

		Reach: 5 * time.Second,
	}
	if c.traced() {
		l.TraceFlush, l.TraceExport = 3*time.Second, 2*time.Second
	}
	return l
}

// ladder returns what must hold, the outermost first. A limit that lies inside
// several appears more than once; those that run one after another are added up.
func (l Limits) ladder() []rung {
	browser := limit{name: "browser", value: l.Browser}
	proxy := limit{"proxy", l.Proxy, "BONGSU_PROXY_TIMEOUT"}
	write := limit{name: "server write", value: l.Write}
	handler := limit{name: "server handler", value: l.Handler}
	read := limit{name: "server read", value: l.Read}
	header := limit{name: "request header", value: l.Header}
	look := limit{name: "look at the parts", value: l.Look}
	queue := limit{name: "look at the queues", value: l.QueueLook}
	wait := limit{name: "database pool wait", value: l.PoolWait}
	transaction := limit{name: "transaction", value: l.Transaction}
	statement := limit{name: "statement", value: l.Statement}
	lock := limit{name: "lock wait", value: l.Lock}
	connect := limit{name: "database connect", value: l.Connect}
	ping := limit{name: "database ping", value: l.Ping}
	redis := limit{name: "enqueue", value: l.Enqueue}
	redisRead := limit{name: "Redis read", value: l.RedisRead}
	task := limit{name: "range task", value: l.RangeTask}
	lease := limit{"lease", l.Lease, "BONGSU_LEASE"}
	call := limit{"vendor call", l.VendorCall, "BONGSU_VENDOR_TIMEOUT"}
	record := limit{name: "recording", value: l.Record}
	grace := limit{name: "shutdown grace", value: l.Grace}
	outside := limit{"stop from outside", l.Outside, "BONGSU_STOP_TIMEOUT"}
	upload := limit{name: "upload", value: l.Upload}
	idle := limit{name: "upload without a byte", value: l.UploadIdle}
	step := limit{name: "import step", value: l.ImportStep}

	front := []rung{{browser, []limit{write}}}
	if l.Proxy > 0 {
		front = []rung{{browser, []limit{proxy}}, {proxy, []limit{write}}}
	}
	flush := limit{name: "trace flush", value: l.TraceFlush}
	working := []limit{{name: "feeder's step down", value: l.StepDown}, call, record, {name: "worker's sign-off", value: l.SignOff}}
	answering := []limit{wait, transaction}
	if l.TraceFlush != 0 {
		working, answering = append(working, flush), append(answering, flush)
	}
	rungs := append(front, []rung{
		{write, []limit{handler}},
		{write, []limit{read}},
		{read, []limit{header}},
		{limit{name: "server idle", value: l.Idle}, []limit{browser}},
		{handler, []limit{wait, transaction, queue}},
		{handler, []limit{look, look, queue}},
		{handler, []limit{{name: "scrape", value: l.Scrape}}},
		{look, []limit{{name: "badge", value: l.Badge}}},
		{queue, []limit{redisRead}},
		{limit{name: "database call", value: l.PoolWait + l.Transaction}, []limit{connect, ping, lock}},
		{wait, []limit{ping}},
		{transaction, []limit{statement}},
		{transaction, []limit{{name: "idle in transaction", value: l.IdleTransaction}}},
		{statement, []limit{lock}},
		{upload, []limit{idle, wait, transaction}},
		{idle, []limit{wait, transaction}},
		{task, []limit{wait, step}},
		{redis, []limit{
			{name: "Redis pool wait", value: l.RedisPool}, {name: "Redis dial", value: l.RedisDial},
			{name: "Redis write", value: l.RedisWrite}, redisRead,
		}},
		{outside, []limit{grace}},
		{grace, working},
		{grace, answering},
		{task, []limit{lease}},
		{task, []limit{call, call, record}},
		{lease, []limit{call, record}},
		{record, []limit{lock}},
		{call, []limit{{name: "vendor connect", value: l.VendorConnect}}},
		{limit{name: "feeder lease", value: l.FeederLease}, []limit{{name: "feeder's turn", value: l.FeederTurn}, lock}},
		{limit{name: "quiet range", value: l.Quiet}, []limit{{name: "range touch", value: l.Touch}}},
		{limit{name: "vendor's probe", value: l.Probe}, []limit{{name: "look at the vendor", value: l.VendorLook}}},
		{limit{name: "worker alive", value: l.WorkerAlive}, []limit{{name: "worker's beat", value: l.Beat}, wait, transaction}},
		{limit{name: "check's look", value: l.Reach}, []limit{connect}},
	}...)
	if l.TraceFlush != 0 {
		rungs = append(rungs, rung{flush, []limit{{name: "trace export", value: l.TraceExport}}})
	}
	return rungs
}

// pages gives the limits that the pages and the API keep.
func (l Limits) pages() web.Limits {
	return web.Limits{
		Handler: l.Handler, Header: l.Header, Read: l.Read, Write: l.Write, Idle: l.Idle,
		Badge: l.Badge, Look: l.Look, Queue: l.QueueLook, Scrape: l.Scrape, Fresh: badgeFresh,
		Upload: l.Upload, UploadIdle: l.UploadIdle,
	}
}

// badgeFresh is how long one look at the parts serves all pages of a process.
const badgeFresh = 2 * time.Second
