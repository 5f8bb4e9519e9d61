package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// How passwords are hashed: argon2id with 64 MiB, two passes, one lane.
const (
	hashMemory = 64 << 10 // KiB
	hashTime   = 2
	hashLanes  = 1
	hashBytes  = 32
	saltBytes  = 16
)

// hashesAtOnce bounds the memory that sign-ins can take.
const hashesAtOnce = 2

// HashPassword gives what is stored of a password: the argon2id parameters, a
// fresh salt and the hash, in the usual text form.
func HashPassword(password string) string {
	var salt [saltBytes]byte
	_, _ = rand.Read(salt[:]) // never fails: the program ends where the system has no randomness
	sum := argon2.IDKey(passwordBytes(password), salt[:], hashTime, hashMemory, hashLanes, hashBytes)
	return hashText(salt[:], sum)
}

// hashText is the text form of a hash made with today's parameters.
func hashText(salt, sum []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashTime, hashLanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

// passwordBytes makes the same password from every keyboard: Hangul comes
// composed from one and decomposed from another.
func passwordBytes(password string) []byte { return []byte(norm.NFC.String(password)) }

// storedHash is a parsed text of HashPassword.
type storedHash struct {
	memory, time uint32
	lanes        uint8
	salt, sum    []byte
}

// parseHash reads a stored hash. Limits keep a damaged row from taking all
// memory.
func parseHash(stored string) (storedHash, error) {
	bad := errors.New("stored password hash is damaged")
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return storedHash{}, bad
	}
	var h storedHash
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.lanes); err != nil {
		return storedHash{}, bad
	}
	var err1, err2 error
	h.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	h.sum, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || h.memory > 1<<20 || h.time < 1 || h.time > 16 || h.lanes < 1 || len(h.sum) < 16 {
		return storedHash{}, bad
	}
	return h, nil
}

// passwords compares passwords with stored hashes, a few at once.
type passwords struct {
	slots chan struct{}
	dummy string // looks like a hash, and costs as much to compare
}

func newPasswords() *passwords {
	return &passwords{slots: make(chan struct{}, hashesAtOnce), dummy: hashText(make([]byte, saltBytes), make([]byte, hashBytes))}
}

// hash is HashPassword, a few at once. It fails when ctx ends before a slot is free.
func (p *passwords) hash(ctx context.Context, password string) (string, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
		return HashPassword(password), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// match says whether password is the one of stored. An empty stored stands for
// an account that does not exist: it takes as long, and never matches. It fails
// when ctx ends before a slot is free, or when stored is damaged.
func (p *passwords) match(ctx context.Context, stored, password string) (bool, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	known := stored != ""
	if !known {
		stored = p.dummy
	}
	h, err := parseHash(stored)
	if err != nil {
		return false, err
	}
	sum := argon2.IDKey(passwordBytes(password), h.salt, h.time, h.memory, h.lanes, uint32(len(h.sum)))
	return subtle.ConstantTimeCompare(sum, h.sum) == 1 && known, nil
}
