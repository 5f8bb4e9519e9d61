package db

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// ArchiveFilter selects failed deliveries. An empty part selects all.
type ArchiveFilter struct {
	Notice   *int64     `json:"notice,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Code     string     `json:"code,omitempty"`     // the vendor's, exact
	Platform string     `json:"platform,omitempty"` // android, ios or web
	Since    *time.Time `json:"since,omitempty"`    // failed then or later
	Until    *time.Time `json:"until,omitempty"`    // failed before then
}

// Empty says that f selects everything.
func (f ArchiveFilter) Empty() bool { return f == ArchiveFilter{} }

// Check is an *InvalidError that names what is wrong with f.
func (f ArchiveFilter) Check() error {
	var bad []FieldError
	if !plain(f.Reason) {
		bad = append(bad, FieldError{"reason", "must be a reason"})
	}
	if !plain(f.Code) {
		bad = append(bad, FieldError{"code", "must be a vendor's code"})
	}
	if !slices.Contains([]string{"", "android", "ios", "web"}, f.Platform) {
		bad = append(bad, FieldError{"platform", "must be android, ios or web"})
	}
	if f.Since != nil && f.Until != nil && !f.Since.Before(*f.Until) {
		bad = append(bad, FieldError{"until", "must be later than since"})
	}
	return invalidIf(bad)
}

// args are the arguments of archiveMatches, beside others.
func (f ArchiveFilter) args(others pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	if others == nil {
		others = pgx.StrictNamedArgs{}
	}
	others["by_notice"], others["reason"], others["code"] = f.Notice, f.Reason, f.Code
	others["platform"], others["since"], others["until"] = f.Platform, f.Since, f.Until
	return others
}

// canonical is the same text for the same filter.
func (f ArchiveFilter) canonical() string {
	for _, t := range []**time.Time{&f.Since, &f.Until} {
		if *t != nil {
			utc := (*t).UTC()
			*t = &utc
		}
	}
	raw, _ := json.Marshal(f) // strings, numbers and times
	return string(raw)
}

// Tallied says that the tallies know how many f selects.
func (f ArchiveFilter) Tallied() bool {
	return f.Code == "" && f.Platform == "" && f.Since == nil && f.Until == nil
}

// archiveMatches is the condition that f selects delivery d.
const archiveMatches = `d.failed_at IS NOT NULL AND (@by_notice::bigint IS NULL OR d.notice_id = @by_notice)
	AND (@reason = '' OR d.reason = @reason) AND (@code = '' OR d.code = @code)
	AND (@since::timestamptz IS NULL OR d.failed_at >= @since) AND (@until::timestamptz IS NULL OR d.failed_at < @until)
	AND (@platform = '' OR EXISTS (SELECT FROM device p WHERE p.id = d.device_id AND p.platform = @platform))`
