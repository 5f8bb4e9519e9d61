package pushsim

import (
	"encoding/json"
	"runtime"
	"strconv"
	"testing"
)

// FuzzParse holds the walk against encoding/json.
func FuzzParse(f *testing.F) {
	for _, b := range []string{
		`{"token":"a","notice_id":1}`, `{"notice_id":-9223372036854775808 , "x":[{"token":"no"},2], "token":"\u0061\n가"}`,
		`{"a":{"notice_id":3},"notice_id":4,"token":"}\\"}`, `{"token":"a","notice_id":1e2}`, `{"\u0074oken":"a","notice_id":0}`,
		`[{"token":"a","notice_id":1}]`, `"token"`, `{"token":["a"],"notice_id":[1]}`, "{\"token\":\"\xff\",\"notice_id\":1}", `{`,
		`{"x":"token","y":"a","notice_id":7}`, `{"notice_id":99999999999999999999,"token":"a"}`,
	} {
		f.Add([]byte(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c call
		got := c.parse(b)
		var want map[string]any
		members := json.Unmarshal(b, &want) == nil
		token, _ := want["token"].(string)
		if got && (!members || c.token != token) {
			t.Fatalf("%q was taken for token %q, want %q", b, c.token, token)
		}
		var typed struct {
			Notice json.Number `json:"notice_id"`
		}
		err := json.Unmarshal(b, &typed)
		_, isNumber := want["notice_id"].(float64)
		n, bad := strconv.ParseInt(string(typed.Notice), 10, 64)
		if plain := members && token != "" && isNumber && bad == nil && err == nil; plain && !got {
			t.Fatalf("%q was refused", b)
		}
		if got && isNumber && err == nil && len(want) == countMembers(b) && c.notice != n {
			t.Errorf("%q: notice %d, want %d", b, c.notice, n)
		}
	})
}

// countMembers counts all names at any depth, to leave out objects that give
// one twice or in other letters, which encoding/json folds together.
func countMembers(b []byte) (n int) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case ':':
			n++
		case '"':
			i = stringEnd(b, i) - 1
		}
	}
	return n
}

// A million recipients must not cost a gigabyte.
func TestMemory(t *testing.T) {
	const pairs = 1_000_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b := newBook(false)
	for i := range pairs {
		b.deliver(&call{token: "device-token-" + strconv.Itoa(i), notice: 1})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	mib := float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
	t.Logf("%d pairs take %.1f MiB", pairs, mib)
	if mib > 64 {
		t.Errorf("%d pairs take %.1f MiB, want at most 64", pairs, mib)
	}
	if n := b.unique.Load(); n != pairs {
		t.Errorf("%d are unique, want %d", n, pairs)
	}
}
