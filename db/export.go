package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// ExportFilter says which devices go into an export; what is empty does not
// narrow. Erased ones never do.
type ExportFilter struct {
	Platform string // android, ios or web
	Tag      string
	User     string
	State    string // enabled, disabled or no_consent
}

// Check is an *InvalidError that names what is wrong with the filter.
func (f ExportFilter) Check() error {
	var bad []FieldError
	if !slices.Contains([]string{"", "android", "ios", "web"}, f.Platform) {
		bad = append(bad, FieldError{"platform", "must be android, ios or web"})
	}
	if !slices.Contains([]string{"", "enabled", "disabled", "no_consent"}, f.State) {
		bad = append(bad, FieldError{"state", "must be enabled, disabled or no_consent"})
	}
	if !plain(f.Tag) {
		bad = append(bad, FieldError{"tag", "must be a tag"})
	}
	if !plain(f.User) {
		bad = append(bad, FieldError{"user", "must be a user"})
	}
	return invalidIf(bad)
}

// ExportedDevice is a device as an export writes it, its address in full.
type ExportedDevice struct {
	ID           int64
	Kind         string
	Environment  *string
	P256dh       *string
	Auth         *string
	Token        string
	Platform     string
	Person       *string
	Tags         []string
	Consent      bool
	Installation *string
}

// BeginExport checks the filter and notes in the audit log that by takes the
// devices' addresses out.
func (db *DB) BeginExport(ctx context.Context, f ExportFilter, by Actor) (err error) {
	defer wrap(&err, "BeginExport(%+v)", f)
	if err := f.Check(); err != nil {
		return err
	}
	return db.tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return addAudit(ctx, tx, by, "device.export", "devices",
			map[string]any{"platform": f.Platform, "tag": f.Tag, "user": f.User, "state": f.State})
	})
}

// ExportDevices gives the devices behind a number, in the order of their numbers,
// at most limit; none means that there are no more.
func (db *DB) ExportDevices(ctx context.Context, f ExportFilter, after int64, limit int) (list []ExportedDevice, err error) {
	defer wrap(&err, "ExportDevices(%+v, %d)", f, after)
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		list, err = allRows[ExportedDevice](q.Query(ctx, `
			SELECT id, kind, environment, p256dh, auth, token, platform, person, tags, consent, installation FROM device
			WHERE id > @after AND token IS NOT NULL AND erased_at IS NULL
				AND (@platform = '' OR platform = @platform)
				AND (@tag = '' OR @tag = ANY (tags))
				AND (@user = '' OR person = @user)
				AND CASE @state WHEN 'enabled' THEN disabled_at IS NULL WHEN 'disabled' THEN disabled_at IS NOT NULL
					WHEN 'no_consent' THEN NOT consent ELSE true END
			ORDER BY id LIMIT @limit`,
			pgx.StrictNamedArgs{"after": after, "limit": limit, "platform": f.Platform, "tag": normal(f.Tag), "user": normal(f.User), "state": f.State}))
		return err
	})
	return list, err
}
