package db

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestUser(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	u, err := db.AddUser(ctx, " Kim@Example.com ", Operator, "hash-1", someone)
	if err != nil {
		t.Fatal(err)
	}
	if u.ID == 0 || u.Email != "Kim@Example.com" || u.Role != Operator || u.PasswordHash != "hash-1" || u.DisabledAt != nil || u.CreatedAt.IsZero() {
		t.Errorf("added %+v", u)
	}
	if got, err := db.User(ctx, u.ID); err != nil || got != u {
		t.Errorf("by number: %+v, %v; want %+v", got, err, u)
	}
	if got, err := db.UserByEmail(ctx, "kim@EXAMPLE.com "); err != nil || got != u {
		t.Errorf("by e-mail: %+v, %v; want %+v", got, err, u)
	}
	for _, email := range []string{"lee@example.com", "", "kim\x00@example.com", "\xff"} {
		if _, err := db.UserByEmail(ctx, email); !errors.Is(err, ErrNotFound) {
			t.Errorf("UserByEmail(%q): %v, want ErrNotFound", email, err)
		}
	}
	if _, err := db.User(ctx, u.ID+1); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown number: %v, want ErrNotFound", err)
	}
}

func TestUserEmailTaken(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	u, err := db.AddUser(ctx, "kim@example.com", Operator, "hash", someone)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.AddUser(ctx, "KIM@example.com", Admin, "hash", someone)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Code != "email_taken" || conflict.ID != u.ID {
		t.Errorf("second: %v, want a conflict with user %d", err, u.ID)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM audit WHERE act = 'user.add'"); n != 1 {
		t.Errorf("%d audit lines, want 1", n)
	}
}

func TestUserInvalid(t *testing.T) {
	db := newDB(t)
	for _, c := range []struct {
		email, role, hash string
		fields            string
	}{
		{"kim", "operator", "h", "email"},
		{"@example.com", "operator", "h", "email"},
		{"kim@", "operator", "h", "email"},
		{"kim@a@b", "operator", "h", "email"},
		{"kim lee@example.com", "operator", "h", "email"},
		{"kim\x00@example.com", "operator", "h", "email"},
		{strings.Repeat("k", 250) + "@example.com", "operator", "h", "email"},
		{"kim@example.com", "root", "h", "role"},
		{"kim@example.com", "operator", "", "password"},
		{"", "", "", "email role password"},
	} {
		_, err := db.AddUser(t.Context(), c.email, Role(c.role), c.hash, someone)
		if got := fieldsOf(err); got != c.fields {
			t.Errorf("%q %q %q: wrong fields %q, want %q", c.email, c.role, c.hash, got, c.fields)
		}
	}
	if n := ask[int](t, db, "SELECT count(*) FROM app_user"); n != 0 {
		t.Errorf("%d users stored", n)
	}
}

// fieldsOf names the fields of an InvalidError, in its order.
func fieldsOf(err error) string {
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		return ""
	}
	var names []string
	for _, f := range invalid.Fields {
		names = append(names, f.Field)
	}
	return strings.Join(names, " ")
}

func TestUserChangesEndSessions(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	u, err := db.AddUser(ctx, "kim@example.com", Operator, "hash-1", someone)
	if err != nil {
		t.Fatal(err)
	}
	sessions := db.Sessions(func([]byte) SessionOwner { return SessionOwner{User: u.ID} })
	signIn := func(token string) {
		t.Helper()
		if err := sessions.CommitCtx(ctx, token, []byte("data"), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	signedOut := func(token string) {
		t.Helper()
		if _, found, err := sessions.FindCtx(ctx, token); found || err != nil {
			t.Errorf("session %s: found %v, %v; want it ended", token, found, err)
		}
	}

	signIn("a")
	if err := db.SetPassword(ctx, u.ID, "hash-2", someone); err != nil {
		t.Fatal(err)
	}
	signedOut("a")
	signIn("b")
	if err := db.DisableUser(ctx, u.ID, someone); err != nil {
		t.Fatal(err)
	}
	signedOut("b")
	first, err := db.User(ctx, u.ID)
	if err != nil || first.PasswordHash != "hash-2" || first.DisabledAt == nil {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := db.DisableUser(ctx, u.ID, someone); err != nil {
		t.Fatal(err)
	}
	if again, err := db.User(ctx, u.ID); err != nil || !again.DisabledAt.Equal(*first.DisabledAt) {
		t.Errorf("disabled again: %+v, %v", again, err)
	}
	if err := db.SetPassword(ctx, u.ID+1, "h", someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("password of nobody: %v", err)
	}
	if err := db.DisableUser(ctx, u.ID+1, someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("disable nobody: %v", err)
	}
}

// A change and its audit line are one: without the line there is no change.
func TestUserChangeWithoutAuditIsUndone(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	u, err := db.AddUser(ctx, "kim@example.com", Operator, "hash-1", someone)
	if err != nil {
		t.Fatal(err)
	}
	refuseAudit(t, db)
	if err := db.SetPassword(ctx, u.ID, "hash-2", someone); err == nil {
		t.Error("the password changed without an audit line")
	}
	if _, err := db.AddUser(ctx, "lee@example.com", Operator, "hash", someone); err == nil {
		t.Error("a user was added without an audit line")
	}
	if got := ask[string](t, db, "SELECT string_agg(email || ' ' || password_hash, ',') FROM app_user"); got != "kim@example.com hash-1" {
		t.Errorf("users are %q", got)
	}
}

// refuseAudit makes every further audit line fail.
func refuseAudit(t testing.TB, db *DB) {
	t.Helper()
	exec(t, db, "ALTER TABLE audit ADD CONSTRAINT refuse CHECK (false) NOT VALID")
}
