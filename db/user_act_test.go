package db

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"
	"time"
)

func linkHash(text string) []byte {
	h := sha256.Sum256([]byte(text))
	return h[:]
}

func TestInvitation(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	u := must(db.InviteUser(ctx, "kim@example.com", Support, linkHash("one"), someone))(t)
	if row := must(db.UserRow(ctx, u.ID))(t); !row.Invited || row.LinkUntil == nil || row.Role != Support {
		t.Errorf("invited: %+v", row)
	}
	if got := must(db.UserOfLink(ctx, linkHash("one")))(t); got.ID != u.ID {
		t.Errorf("the link is of %d, want %d", got.ID, u.ID)
	}
	if err := db.NewUserLink(ctx, u.ID, linkHash("two"), someone); err != nil {
		t.Fatal(err)
	}
	if _, err := db.UserOfLink(ctx, linkHash("one")); !errors.Is(err, ErrNotFound) {
		t.Errorf("the replaced link: %v, want ErrNotFound", err)
	}
	if got := must(db.UseUserLink(ctx, linkHash("two"), "hash", "r-9"))(t); got.PasswordHash != "hash" {
		t.Errorf("after the link: %+v", got)
	}
	if _, err := db.UseUserLink(ctx, linkHash("two"), "other", "r-9"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the used link: %v, want ErrNotFound", err)
	}
	if row := must(db.UserRow(ctx, u.ID))(t); row.Invited || row.LinkUntil != nil {
		t.Errorf("after the link: %+v", row)
	}
	if n := ask[int](t, db, "SELECT count(*) FROM audit WHERE act = 'user.set_password' AND actor = 'user:' || $1::bigint AND request_id = 'r-9'", u.ID); n != 1 {
		t.Errorf("%d audit lines by the person, want 1", n)
	}
	var conflict *ConflictError
	if _, err := db.InviteUser(ctx, "KIM@example.com", Support, linkHash("three"), someone); !errors.As(err, &conflict) || conflict.ID != u.ID {
		t.Errorf("invited twice: %v", err)
	}
}

// One link sets one password, whoever presses at once.
func TestLinkUsedAtOnce(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	must(db.InviteUser(ctx, "kim@example.com", Operator, linkHash("one"), someone))(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 8 {
		wg.Go(func() {
			if _, err := db.UseUserLink(ctx, linkHash("one"), "hash", ""); err == nil {
				mu.Lock()
				done++
				mu.Unlock()
			} else if !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done != 1 {
		t.Errorf("it was used %d times", done)
	}
}

func TestLinkEnds(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	u := must(db.InviteUser(ctx, "kim@example.com", Operator, linkHash("late"), someone))(t)
	exec(t, db, "UPDATE user_link SET expires_at = now()")
	if _, err := db.UseUserLink(ctx, linkHash("late"), "hash", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("a late link: %v", err)
	}
	if err := db.NewUserLink(ctx, u.ID, linkHash("new"), someone); err != nil {
		t.Fatal(err)
	}
	if err := db.DisableUser(ctx, u.ID, someone); err != nil {
		t.Fatal(err)
	}
	if _, err := db.UseUserLink(ctx, linkHash("new"), "hash", ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("the link of a disabled person: %v", err)
	}
	var conflict *ConflictError
	if err := db.NewUserLink(ctx, u.ID, linkHash("x"), someone); !errors.As(err, &conflict) || conflict.Code != "user_disabled" {
		t.Errorf("a link for a disabled person: %v", err)
	}
	if err := db.EnableUser(ctx, u.ID, someone); err != nil {
		t.Fatal(err)
	}
	if _, err := db.UserOfLink(ctx, linkHash("new")); !errors.Is(err, ErrNotFound) {
		t.Errorf("a link from before: %v", err)
	}
}

func TestRole(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	u := must(db.AddUser(ctx, "kim@example.com", Operator, "hash", someone))(t)
	for range 2 {
		if err := db.SetRole(ctx, u.ID, Admin, someone); err != nil {
			t.Fatal(err)
		}
	}
	if got := must(db.User(ctx, u.ID))(t); got.Role != Admin {
		t.Errorf("role %s", got.Role)
	}
	if got := ask[string](t, db, "SELECT string_agg(detail->>'before' || '-' || (detail->>'after'), ',') FROM audit WHERE act = 'user.role'"); got != "operator-admin" {
		t.Errorf("the audit log says %q", got)
	}
	if err := db.SetRole(ctx, u.ID, "root", someone); fieldsOf(err) != "role" {
		t.Errorf("a role that is none: %v", err)
	}
	if err := db.SetRole(ctx, u.ID+1, Admin, someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
}

// Two admins who demote or disable each other at once leave one.
func TestLastAdminStays(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	a := must(db.AddUser(ctx, "a@example.com", Admin, "hash", someone))(t)
	b := must(db.AddUser(ctx, "b@example.com", Admin, "hash", someone))(t)
	must(db.InviteUser(ctx, "c@example.com", Admin, linkHash("c"), someone))(t) // cannot sign in yet
	errs := make([]error, 2)
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = db.SetRole(ctx, a.ID, Support, someone) })
	wg.Go(func() { errs[1] = db.DisableUser(ctx, b.ID, someone) })
	wg.Wait()
	refused := 0
	for _, err := range errs {
		var conflict *ConflictError
		if errors.As(err, &conflict) && conflict.Code == "last_admin" {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if n := ask[int](t, db, "SELECT count(*) FROM app_user WHERE role = 'admin' AND disabled_at IS NULL AND password_hash <> ''"); n != 1 || refused != 1 {
		t.Errorf("%d admins are left and %d were refused, want one of each", n, refused)
	}
}

func TestUsersPages(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	for _, email := range []string{"c@example.com", "A@example.com", "b@example.com"} {
		must(db.AddUser(ctx, email, Operator, "hash", someone))(t)
	}
	var got []string
	for next, first := "", true; first || next != ""; first = false {
		p := must(db.Users(ctx, next, 2))(t)
		for _, u := range p.Items {
			got = append(got, u.Email)
		}
		next = p.Next
	}
	if len(got) != 3 || got[0] != "A@example.com" || got[1] != "b@example.com" || got[2] != "c@example.com" {
		t.Errorf("people %v", got)
	}
}

func TestSessionsOf(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	u := must(db.AddUser(ctx, "kim@example.com", Operator, "hash", someone))(t)
	other := must(db.AddUser(ctx, "lee@example.com", Operator, "hash", someone))(t)
	s := db.Sessions(func(data []byte) SessionOwner {
		return SessionOwner{User: u.ID, Agent: "browser " + string(data), Address: "10.0.0.1"}
	})
	for _, token := range []string{"a", "b"} {
		if err := s.CommitCtx(ctx, token, []byte(token), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	list := must(db.SessionsOf(ctx, u.ID))(t)
	if len(list) != 2 || list[0].ID != SessionID("b") || list[0].Agent != "browser b" || list[0].Address != "10.0.0.1" {
		t.Fatalf("sessions %+v", list)
	}
	if row := must(db.UserRow(ctx, u.ID))(t); row.Sessions != 2 || row.SeenAt == nil {
		t.Errorf("%+v", row)
	}
	if err := db.EndSession(ctx, other.ID, SessionID("a"), someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("somebody else's session: %v", err)
	}
	if err := db.EndSession(ctx, u.ID, "no hex", someone); !errors.Is(err, ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
	if err := db.EndSession(ctx, u.ID, SessionID("a"), someone); err != nil {
		t.Fatal(err)
	}
	if list := must(db.SessionsOf(ctx, u.ID))(t); len(list) != 1 || list[0].ID != SessionID("b") {
		t.Errorf("left: %+v", list)
	}
}

func TestTokenEnds(t *testing.T) {
	db, ctx := newDB(t), t.Context()
	soon := time.Now().Add(time.Hour)
	tok := must(db.AddTokenUntil(ctx, "shop", Operator, linkHash("t"), &soon, someone))(t)
	if got := must(db.TokenByHash(ctx, linkHash("t")))(t); got.ID != tok.ID || got.ExpiresAt == nil {
		t.Errorf("%+v", got)
	}
	exec(t, db, "UPDATE api_token SET expires_at = now()")
	if _, err := db.TokenByHash(ctx, linkHash("t")); !errors.Is(err, ErrNotFound) {
		t.Errorf("an ended token: %v", err)
	}
	if p := must(db.Tokens(ctx, "", 10))(t); len(p.Items) != 1 || p.Items[0].Name != "shop" {
		t.Errorf("%+v", p)
	}
}
