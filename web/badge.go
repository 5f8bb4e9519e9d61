package web

import (
	"strings"

	"bongsu/db"
	"bongsu/views"
)

// addOutlook puts into a shell what everybody should see on every page.
func addOutlook(m *views.Shell, o outlook) {
	if !o.known {
		m.Badge = views.BadgeUnknown()
		if o.trouble != db.NoCause {
			m.Badge = views.BadgeFor(databasePart(o), 1)
		}
		return
	}
	m.Badge = badgeOf(partsOf(o))
	for _, v := range o.st.Vendors {
		if m.Can.Admin && (v.State != "ok" || v.KeepDevices) {
			m.Paused = vendorBanner(o.st, v)
			return
		}
	}
}

// vendorBanner is what admins are told and asked about a vendor.
func vendorBanner(st db.Status, v db.VendorState) *views.VendorPaused {
	row := vendorPart(st, v)
	return &views.VendorPaused{Vendor: vendorAt(v.Scope), Reason: textOf(v.Reason), Detail: textOf(v.Detail), Since: row.Since,
		NextProbeAt: stampOf(v.NextProbeAt), Waiting: st.Backlog, CanResume: v.State != "ok", KeepDevices: v.KeepDevices,
		CanAgree: v.KeepDevices || textOf(v.Reason) == "refusals", Runbook: views.RunbookPath(row.Message)}
}

// vendorAt names a scope as pages name vendors.
func vendorAt(scope string) views.Vendor {
	kind, rest, _ := strings.Cut(scope, ":")
	switch kind {
	case db.KindAPNs:
		return views.Vendor{Kind: kind, Environment: rest}
	case db.KindWebPush:
		return views.Vendor{Kind: kind, Host: rest}
	}
	return views.Vendor{Kind: kind, Platform: rest}
}

// badgeOf sums the parts up: the first that is down says why sending waits, and
// otherwise the warnings are counted.
func badgeOf(rows []views.StatusRow) views.Badge {
	warnings := 0
	var first views.StatusRow
	for _, r := range rows {
		if r.State == views.StateDown {
			return views.BadgeFor(r, 0)
		}
		if r.State == views.StateWarn {
			if warnings++; warnings == 1 {
				first = r
			}
		}
	}
	return views.BadgeFor(first, warnings)
}
