package db

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestToken(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	hash := sha256.Sum256([]byte("bongsu_secret"))
	made, err := db.AddToken(ctx, " importer ", Operator, hash[:], someone)
	if err != nil {
		t.Fatal(err)
	}
	if made.ID == 0 || made.Name != "importer" || made.Role != Operator || made.LastUsedAt != nil || made.RevokedAt != nil {
		t.Errorf("added %+v", made)
	}
	got, err := db.TokenByHash(ctx, hash[:])
	if err != nil || got.ID != made.ID || got.Role != Operator {
		t.Errorf("by hash: %+v, %v", got, err)
	}
	other := sha256.Sum256([]byte("another"))
	if _, err := db.TokenByHash(ctx, other[:]); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown: %v, want ErrNotFound", err)
	}
	for range 2 {
		if err := db.RevokeToken(ctx, made.ID, someone); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.TokenByHash(ctx, hash[:]); !errors.Is(err, ErrNotFound) {
		t.Errorf("revoked: %v, want ErrNotFound", err)
	}
	if err := db.RevokeToken(ctx, made.ID+1, someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("revoke nothing: %v, want ErrNotFound", err)
	}
}

func TestTokenUseIsNotedOnceAMinute(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	hash := sha256.Sum256([]byte("bongsu_secret"))
	made, err := db.AddToken(ctx, "importer", Operator, hash[:], someone)
	if err != nil {
		t.Fatal(err)
	}
	use := func() time.Time {
		t.Helper()
		if _, err := db.TokenByHash(ctx, hash[:]); err != nil {
			t.Fatal(err)
		}
		return ask[time.Time](t, db, "SELECT last_used_at FROM api_token WHERE id = $1", made.ID)
	}
	first := use()
	if second := use(); !second.Equal(first) {
		t.Errorf("used twice within a minute: %v, then %v", first, second)
	}
	exec(t, db, "UPDATE api_token SET last_used_at = now() - interval '61 seconds'")
	if third := use(); third.Before(first) {
		t.Errorf("not noted after a minute: %v", third)
	}
}

func TestTokenInvalid(t *testing.T) {
	db := newDB(t)
	hash := make([]byte, sha256.Size)
	for _, c := range []struct {
		name, role string
		hash       []byte
		fields     string
	}{
		{"", "operator", hash, "name"},
		{strings.Repeat("n", 101), "operator", hash, "name"},
		{"two\nlines", "operator", hash, "name"},
		{"importer", "owner", hash, "role"},
		{"importer", "operator", hash[1:], "hash"},
	} {
		_, err := db.AddToken(t.Context(), c.name, Role(c.role), c.hash, someone)
		if got := fieldsOf(err); got != c.fields {
			t.Errorf("%q %q: wrong fields %q, want %q", c.name, c.role, got, c.fields)
		}
	}
}

func TestTokenWithoutAuditIsUndone(t *testing.T) {
	db := newDB(t)
	refuseAudit(t, db)
	if _, err := db.AddToken(t.Context(), "importer", Operator, make([]byte, sha256.Size), someone); err == nil {
		t.Error("a token was added without an audit line")
	}
	if n := ask[int](t, db, "SELECT count(*) FROM api_token"); n != 0 {
		t.Errorf("%d tokens stored", n)
	}
}
