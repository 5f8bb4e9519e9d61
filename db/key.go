package db

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// keyVersion names the tuple below. A change of the tuple is a new version, so
// that keys of before keep their meaning.
const keyVersion = "bongsu-notice-1"

// Key derives the idempotency key of a draft in normal form (CheckDraft): hex
// SHA-256 over a length-prefixed tuple of what is sent and to whom. No time, no
// chance and no person goes in, so two who submit the same get the same key.
// The expiry is not part of it.
func (d Draft) Key() string {
	h := sha256.New()
	put := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	putList := func(l []string) {
		put(strconv.Itoa(len(l)))
		for _, s := range l {
			put(s)
		}
	}
	put(keyVersion)
	put(d.Title)
	put(d.Body)
	put(d.Link)
	put(d.Category)
	putList(d.Audience.Platforms)
	putList(d.Audience.Tags)
	if d.RepeatOf == nil {
		put("")
	} else {
		put(strconv.FormatInt(*d.RepeatOf, 10))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func itoa(n int) string      { return strconv.Itoa(n) }
func quoted(s string) string { return strconv.Quote(s) }
