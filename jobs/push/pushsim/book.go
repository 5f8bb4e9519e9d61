package pushsim

import (
	"hash/maphash"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	shards   = 64
	maxTwice = 1000
)

// book counts. A (token, notice) pair and a key are kept as 16 bytes of hash: a
// million pairs take about 55 MB, and two of them fall together less often than
// once in 10^26 books.
type book struct {
	calls, delivered, unique atomic.Int64
	inFlight, maxInFlight    atomic.Int64
	first, last              atomic.Int64 // nanoseconds since 1970, 0: none
	statuses                 [600]atomic.Int64
	ids                      atomic.Int64
	connections, tokens      atomic.Int64
	keep                     bool
	shards                   [shards]shard
	mu                       sync.Mutex // guards twice
	twice                    []Pair
}

type shard struct {
	mu    sync.Mutex
	told  map[hash]uint32
	keys  map[hash]struct{}
	calls map[hash][]Call
	_     [32]byte // one cache line each
}

// Pair is one recipient of one notice.
type Pair struct {
	Token  string `json:"token"`
	Notice int64  `json:"notice"`
}

// Call is one call that was kept.
type Call struct {
	At     time.Time `json:"at"`     // when it came
	Status int       `json:"status"` // the answer; 0: none
	Key    string    `json:"key"`    // Idempotency-Key
}

// Counts is what the stand-in counted since its start or the last Reset.
type Counts struct {
	Calls       int64         `json:"calls"`         // all calls, also refused ones
	Delivered   int64         `json:"delivered"`     // calls that were taken
	Unique      int64         `json:"unique"`        // distinct (token, notice) that were taken
	Duplicates  int64         `json:"duplicates"`    // Delivered − Unique
	ByStatus    map[int]int64 `json:"by_status"`     // answers by HTTP status; 0: cut or hung
	FirstCallAt *time.Time    `json:"first_call_at"` // nil: no call yet
	LastCallAt  *time.Time    `json:"last_call_at"`
	MaxInFlight int64         `json:"max_in_flight"` // most calls at once
	Connections int64         `json:"connections"`   // connections that came, of calls and control
	Tokens      int64         `json:"tokens"`        // requests for an access token, which are no calls
}

func newBook(keep bool) *book {
	b := &book{keep: keep}
	for i := range b.shards {
		b.shards[i].clear()
	}
	return b
}

func (s *shard) clear() {
	s.told, s.keys, s.calls = map[hash]uint32{}, map[hash]struct{}{}, map[hash][]Call{}
}

type hash struct{ a, b uint64 }

var seedA, seedB = maphash.MakeSeed(), maphash.MakeSeed()

func pairHash(token string, notice int64) hash {
	n := mix(uint64(notice))
	return hash{mix(maphash.String(seedA, token) ^ n), mix(maphash.String(seedB, token) + n)}
}

func keyHash(key string) hash {
	return hash{maphash.String(seedA, key), maphash.String(seedB, key)}
}

// keyID is the message_id that stands for a key in every answer.
func keyID(key string) string { return "sim-k" + strconv.FormatUint(keyHash(key).a, 36) }

// mix is the last step of splitmix64: each bit in changes half of those out.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (b *book) shard(h hash) *shard { return &b.shards[h.a%shards] }

// enter counts a call that came; leave ends it.
func (b *book) enter(now time.Time) {
	b.calls.Add(1)
	raise(&b.maxInFlight, b.inFlight.Add(1))
	n := now.UnixNano()
	raise(&b.last, n)
	b.first.CompareAndSwap(0, n)
}

func (b *book) leave() { b.inFlight.Add(-1) }

// raise sets v to n if n is larger.
func raise(v *atomic.Int64, n int64) {
	for old := v.Load(); n > old && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

// answered counts a decided call.
func (b *book) answered(c *call, status int) {
	b.statuses[status].Add(1)
	if !b.keep || c.token == "" {
		return
	}
	h := pairHash(c.token, c.notice)
	s := b.shard(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[h] = append(s.calls[h], Call{At: c.at, Status: status, Key: c.key})
}

// deliver counts a taken call and gives it a number that no other has.
func (b *book) deliver(c *call) (id string) {
	h := pairHash(c.token, c.notice)
	s := b.shard(h)
	s.mu.Lock()
	s.told[h]++
	n := s.told[h]
	s.mu.Unlock()
	b.delivered.Add(1)
	if n == 1 {
		b.unique.Add(1)
	}
	if n == 2 {
		b.remember(Pair{c.token, c.notice})
	}
	return "sim-" + strconv.FormatInt(b.ids.Add(1), 10)
}

func (b *book) remember(p Pair) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.twice) < maxTwice {
		b.twice = append(b.twice, p)
	}
}

// claim takes a key. It is true for one caller only.
func (b *book) claim(key string) bool {
	h := keyHash(key)
	s := b.shard(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.keys[h]; ok {
		return false
	}
	s.keys[h] = struct{}{}
	return true
}

// took tells whether claim has taken the key.
func (b *book) took(key string) bool {
	h := keyHash(key)
	s := b.shard(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.keys[h]
	return ok
}
