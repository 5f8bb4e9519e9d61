package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"bongsu/db"
	"bongsu/web"
)

// Sizes of the incident.
const (
	demoDevices = 10_000
	demoExpired = 100 // tokens that are gone: 410
	demoDown    = 100 // tokens that always get 503
	demoGood    = demoDevices - demoExpired - demoDown
)

// people makes a person for each role, the API's token and this run's devices,
// and prints how to sign in. People stay over runs; their passwords are new.
func (d *demo) people(ctx context.Context) error {
	ledger := d.product.pages
	out := d.app.stdout
	fmt.Fprintf(out, "panel: %s   log: %s\nsign in with\n", d.base, d.logPath)
	for _, role := range []db.Role{db.Operator, db.Support, db.Admin} {
		email, password := string(role)+"@demo.example", rand.Text()
		if err := setPerson(ctx, ledger, email, role, password); err != nil {
			return err
		}
		fmt.Fprintf(out, "  %-22s %s\n", email, password)
	}
	token, hash := web.NewToken()
	t, err := ledger.AddToken(ctx, "demo", db.Admin, hash, commandActor())
	if err != nil {
		return err
	}
	d.revoke = func(ctx context.Context) error { return ledger.RevokeToken(ctx, t.ID, commandActor()) }
	d.api = demoAPI{base: d.base + "/api/v1", token: token}
	fmt.Fprintf(out, "  API, while this runs: Authorization: Bearer %s\n", token)

	d.tag = "demo-" + time.Now().UTC().Format("20060102-150405")
	fmt.Fprintf(d.app.stderr, "adding %s devices with the tag %s\n", thousands(demoDevices), d.tag)
	return ledger.SeedDevices(ctx, demoDevices, func(i int) db.DeviceInput {
		platform, tags, user := [...]string{"android", "ios", "web"}[i%3], []string{d.tag}, demoUser(i)
		return db.DeviceInput{Token: d.token(i), Platform: platform, Tags: &tags, User: &user}
	})
}

// setPerson adds a person, or gives the one who is there another password.
func setPerson(ctx context.Context, ledger *db.DB, email string, role db.Role, password string) error {
	_, err := ledger.AddUser(ctx, email, role, web.HashPassword(password), commandActor())
	if taken := new(db.ConflictError); errors.As(err, &taken) {
		return ledger.SetPassword(ctx, taken.ID, web.HashPassword(password), commandActor())
	}
	return err
}

// The kinds of devices, by the beginning of their token.
const (
	kindGood    = "good-"
	kindExpired = "expired-"
	kindDown    = "down-"
)

// kind tells what becomes of device i: one in a hundred is gone, and another
// one is down, scattered over the audience.
func kind(i int) string {
	switch i % 100 {
	case 17:
		return kindExpired
	case 63:
		return kindDown
	}
	return kindGood
}

// token is the token of device i of this run.
func (d *demo) token(i int) string { return fmt.Sprintf("%s%s-%05d", kind(i), d.tag, i) }
