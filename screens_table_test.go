package main

import (
	"strings"

	"bongsu/db"
)

// acts are all scenes. A new page is a line here: TestScreensAreWhole says which
// is missing.
func acts() []act {
	return []act{
		{"empty", nothing, "all well", emptyScenes()},
		{"full", plenty, "", join(openScenes(), noticeScenes(), listScenes(), deviceScenes(), peopleScenes(), statusScenes(), refusedScenes())},
		{"forms", func(*screens) {}, "", formScenes()},
		{"troubled", troubled, "No worker is running", troubledScenes()},
		{"keeping", keeping, "kept", []scene{{name: "notices", as: db.Admin, path: "/notices", shows: "kept"}}},
		{"no-queue", queueAway, "", []scene{
			{name: "queues", as: db.Admin, path: "/queues", shows: "connect"},
			{name: "queue", as: db.Admin, path: "/queues/push", shows: "connect"},
			{name: "status", as: db.Admin, path: "/status", shows: "Queue (Redis)"},
		}},
		{"no-database", databaseGone, "", outageScenes()},
		{"database-back", databaseBack, "Notices are accepted", []scene{{name: "notices", as: db.Admin, path: "/notices", shows: "Service is back"}}},
	}
}

func join(parts ...[]scene) (all []scene) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func emptyScenes() []scene {
	return []scene{
		{name: "notices", as: db.Operator, path: "/notices", shows: "There is no notice yet"},
		{name: "imports", as: db.Operator, path: "/imports", shows: "Nothing was imported yet"},
		{name: "archive", as: db.Admin, path: "/archive", shows: "Archive"},
		{name: "archive-nothing-matches", as: db.Admin, path: "/archive?reason=timeout", shows: "Archive"},
		{name: "queues", as: db.Admin, path: "/queues", shows: "push"},
		{name: "queue", as: db.Admin, path: "/queues/push", shows: "push"},
		{name: "compose-no-device", as: db.Operator, path: "/notices/new", shows: "New notice"},
		{name: "audit-nothing-matches", as: db.Admin, path: "/audit?act=no.such", shows: "Log"},
		{name: "status", as: db.Admin, path: "/status", shows: "all well", draws: "status"},
		{name: "users-one-each", as: db.Admin, path: "/users", shows: "ada@example.com"},
		{name: "account", as: db.Support, path: "/account", shows: "sam@example.com"},
		{name: "second", as: db.Support, path: "/account/second", shows: "Second factor"},
	}
}

func openScenes() []scene {
	return []scene{
		{name: "signin", path: "/signin", shows: "Sign in"},
		{name: "signin-ready", path: "/signin?ready=1", shows: "Sign in"},
		{name: "signed-out", path: "/notices", shows: "Sign in"},
		{name: "welcome", path: "/welcome/" + sceneLink, shows: "Choose a password"},
		{name: "welcome-used", path: "/welcome/" + sceneUsedLink, shows: "Choose a password", wrong: 404},
		{name: "runbook", path: "/runbook", shows: "Runbook"},
		{name: "runbook-one", path: "/runbook/redis-down", shows: "The queue (Redis) does not answer"},
		{name: "no-such-page", path: "/nothing", shows: "nothing at this address", wrong: 404},
	}
}

func noticeScenes() []scene {
	return []scene{
		{name: "start", as: db.Support, path: "/", shows: "Notices", does: func(b *browser) { b.at("/notices") }},
		{name: "notices", as: db.Operator, path: "/notices", shows: "Service interruption tonight"},
		{name: "notices-older", as: db.Operator, path: "/notices", shows: koreanText, does: func(b *browser) { b.click("a[rel=next]"); b.at("/notices") }},
		{name: "compose", as: db.Operator, path: "/notices/new", shows: "New notice"},
		{name: "compose-repeat", as: db.Operator, path: "/notices/new?repeat_of=1", shows: "alert(1)"},
		{name: "compose-repeat-long", as: db.Operator, path: "/notices/new?repeat_of=4", shows: longWord},
		{name: "notice-accepted-hostile", as: db.Operator, path: "/notices/1", shows: "<script>alert(1)</script>"},
		{name: "notice-paused", as: db.Operator, path: "/notices/2", shows: "paused"},
		{name: "notice-cancelled", as: db.Operator, path: "/notices/3", shows: "cancelled"},
		{name: "notice-long-word", as: db.Admin, path: "/notices/4", shows: longWord},
		{name: "notice-finished", as: db.Support, path: "/notices/65", shows: "finished"},
		{name: "notice-nobody", as: db.Operator, path: "/notices/64", shows: "nobody matched"},
		{name: "notice-sending", as: db.Operator, path: "/notices/66", shows: "sending", draws: "notice"},
		{name: "notice-original", as: db.Operator, path: "/notices/66?original=1", shows: "Service interruption tonight"},
		{name: "notice-cancel", as: db.Operator, path: "/notices/4/cancel", shows: "Cancel this notice?"},
		{name: "test-send", as: db.Operator, path: "/test-sends/1", shows: "alert(1)"},
		{name: "test-send-done", as: db.Support, path: "/test-sends/2", shows: longWord},
		{name: "deliveries", as: db.Admin, path: "/notices/4/deliveries", shows: "Deliveries"},
		{name: "deliveries-failed", as: db.Operator, path: "/notices/4/deliveries?status=failed", shows: "failed"},
		{name: "deliveries-none", as: db.Operator, path: "/notices/3/deliveries?status=failed", shows: "Deliveries"},
		{name: "unknown", as: db.Operator, path: "/notices/4/deliveries?status=unknown", shows: "unknown"},
		{name: "notice-none", as: db.Operator, path: "/notices/9999", shows: "no such thing", wrong: 404},
	}
}

func listScenes() []scene {
	return []scene{
		{name: "imports", as: db.Operator, path: "/imports", shows: "list-66.csv"},
		{name: "imports-failed", as: db.Operator, path: "/imports?state=failed", shows: "failed"},
		{name: "import-pending-hostile", as: db.Operator, path: "/imports/1", shows: "<script>alert(1)</script>"},
		{name: "import-running", as: db.Operator, path: "/imports/2", shows: koreanText},
		{name: "import-done-rejected", as: db.Operator, path: "/imports/3", shows: longWord},
		{name: "import-original", as: db.Operator, path: "/imports/3?original=1", shows: "This file was accepted at"},
		{name: "import-failed", as: db.Operator, path: "/imports/4", shows: "could not be imported"},
		{name: "import-cancelled", as: db.Operator, path: "/imports/5", shows: "Cancelled"},
		{name: "import-asks", as: db.Admin, path: "/imports/6", shows: "What of the devices"},
		{name: "import-cancel", as: db.Operator, path: "/imports/2/cancel", shows: "Cancel this import?"},
		{name: "export", as: db.Admin, path: "/devices/export", shows: "Export devices"},
		{name: "archive", as: db.Admin, path: "/archive", shows: "Archive"},
		{name: "archive-one-notice", as: db.Admin, path: "/archive?notice=65", shows: "#65", draws: "archive"},
		{name: "archive-narrowed", as: db.Admin, path: "/archive?notice=4&reason=vendor_error", shows: "Replay"},
		{name: "replay-pending", as: db.Admin, path: "/archive/replays/1", shows: "Replay 1"},
		{name: "replay-running", as: db.Admin, path: "/archive/replays/2", shows: "Replay 2"},
		{name: "replay-done", as: db.Admin, path: "/archive/replays/3", shows: "Replay 3"},
		{name: "archive-wrong", as: db.Admin, path: "/archive?notice=x&since=soon&code=" + longWord, shows: "must be the number of a notice", wrong: 422},
		{name: "replay-paused", as: db.Admin, path: "/archive/replays/4", shows: "failed from 2026-12-01 05:00 UTC"},
		{name: "replay-cancelled", as: db.Admin, path: "/archive/replays/5", shows: "left in the archive"},
		{name: "replay-cancel", as: db.Admin, path: "/archive/replays/4/cancel", shows: "Cancel replay 4?"},
		{name: "plan", as: db.Admin, path: "/archive/plans/1", shows: "12,305 will be put back"},
		{name: "plan-nothing", as: db.Admin, path: "/archive/plans/2", shows: "Nothing matches any more"},
		{name: "queues", as: db.Admin, path: "/queues", shows: "push"},
		{name: "queue", as: db.Admin, path: "/queues/push?state=pending", shows: "no:such"},
	}
}

func deviceScenes() []scene {
	return []scene{
		{name: "devices", as: db.Support, path: "/devices", shows: "Find a device"},
		{name: "devices-one", as: db.Support, path: "/devices?user=lee", shows: "lee"},
		{name: "devices-many", as: db.Support, path: "/devices?user=kim", shows: "seoul"},
		{name: "devices-none", as: db.Support, path: "/devices?user=who", shows: "No device was found"},
		{name: "devices-bad-number", as: db.Support, path: "/devices?id=" + longWord, shows: "Find a device", wrong: 422},
		{name: "device", as: db.Support, path: "/devices/1", shows: "lee", draws: "device"},
		{name: "device-hostile", as: db.Admin, path: "/devices/2", shows: "<script>alert(1)</script>"},
		{name: "device-disabled", as: db.Support, path: "/devices/3", shows: "disabled"},
		{name: "device-erased", as: db.Support, path: "/devices/4", shows: "erased"},
		{name: "device-quiet", as: db.Support, path: "/devices/70", shows: "kim"},
		{name: "device-why", as: db.Support, path: "/devices/1?notice=4", shows: "#4"},
		{name: "device-why-hostile", as: db.Support, path: "/devices/2?notice=1", shows: "alert(1)"},
		{name: "device-why-no-notice", as: db.Support, path: "/devices/1?notice=9999", shows: "9999"},
		{name: "devices-why", as: db.Support, path: "/devices?user=kim&notice=4", shows: "#4"},
		{name: "devices-lookup", as: db.Support, path: "/devices?notice=4", shows: "Find a device"},
		{name: "device-erase", as: db.Support, path: "/devices/1/erase", shows: "Erase this device?"},
	}
}

func peopleScenes() []scene {
	return []scene{
		{name: "users", as: db.Admin, path: "/users", shows: "person-1@example.com"},
		{name: "user-long", as: db.Admin, path: "/users/101", shows: longWord[:190]},
		{name: "user-disabled", as: db.Admin, path: "/users/102", shows: "<script>alert(1)</script>"},
		{name: "user-disable", as: db.Admin, path: "/users/101/disable", shows: "Disable this person?"},
		{name: "tokens", as: db.Admin, path: "/tokens", shows: koreanText},
		{name: "token-revoke", as: db.Admin, path: "/tokens/1/revoke", shows: "Revoke"},
		{name: "audit", as: db.Admin, path: "/audit", shows: "notice.pause"},
		{name: "audit-bad-time", as: db.Admin, path: "/audit?from=yesterday", shows: "Log", wrong: 422},
		{name: "settings", as: db.Admin, path: "/settings", shows: "BONGSU_ADDR"},
		{name: "account-many", as: db.Admin, path: "/account", shows: "192.0.2.7"},
	}
}

func statusScenes() []scene {
	return []scene{{name: "status", as: db.Operator, path: "/status", shows: "Database"}}
}

// refusedScenes are pages that the role may not see.
func refusedScenes() []scene {
	return []scene{
		{name: "refused-admin", as: db.Operator, path: "/users", shows: "needs the role admin", wrong: 403},
		{name: "refused-operator", as: db.Support, path: "/notices/new", shows: "needs the role operator", wrong: 403},
	}
}

func troubledScenes() []scene {
	return []scene{
		{name: "notice", as: db.Operator, path: "/notices/66", shows: "Calls to the vendor are paused"},
		{name: "notice-admin", as: db.Admin, path: "/notices/4", shows: "refuses our credentials"},
		{name: "compose", as: db.Operator, path: "/notices/new", shows: "queue away"},
		{name: "test-send", as: db.Operator, path: "/test-sends/1", shows: "It waits: the queue (Redis) does not answer"},
		{name: "import", as: db.Operator, path: "/imports/1", shows: "no worker is running"},
		{name: "status", as: db.Admin, path: "/status", shows: "No worker is running"},
	}
}

func outageScenes() []scene {
	return []scene{
		{name: "notices", as: db.Admin, path: "/notices", shows: "database", wrong: 503},
		{name: "device", as: db.Support, path: "/devices/1", shows: "database", wrong: 503},
		{name: "welcome", path: "/welcome/" + sceneLink, shows: "database", wrong: 503},
		{name: "status", as: db.Admin, path: "/status", shows: "Nothing can be accepted", wrong: 503},
		{name: "runbook-one", path: "/runbook/database-down", shows: "The database does not answer"},
		{name: "signin", path: "/signin", shows: "Sign in"},
		{name: "signin-refused", path: "/signin", shows: "database", wrong: 503, does: func(b *browser) {
			b.write("#email", "ada@example.com")
			b.write("#password", "correct horse")
			b.click("#signin button[type=submit]")
			b.see("#banner [role=alert]")
		}},
	}
}

// formScenes are pages that an act leads to. They change what is stored, and
// come after the scenes that read it.
func formScenes() []scene {
	send := func(form string) func(b *browser) { return func(b *browser) { b.sends(form) } }
	return []scene{
		{name: "signin-wrong", path: "/signin", shows: "wrong", wrong: 422, does: func(b *browser) {
			b.write("#email", longWord+"@example.com")
			b.write("#password", "not it")
			b.sends("#signin")
		}},
		{name: "welcome-wrong", path: "/welcome/" + sceneLink, shows: "Choose a password", wrong: 422, does: func(b *browser) {
			b.write("#new", "short")
			b.write("#repeat", "other")
			b.sends("#welcome")
			b.see("#welcome .wrong")
		}},
		{name: "compose-typed", as: db.Operator, path: "/notices/new", shows: "Service interruption tonight", draws: "compose", does: func(b *browser) {
			b.write("#title", "Service interruption tonight")
			b.write("#body", "From 23:00 to 01:00 payments cannot be made. Everything else works as always.")
			b.write("#tags", "seoul")
			b.eval(`() => document.querySelector("#tags").blur()`)
			b.says("#audience-count", "67 devices")
		}},
		{name: "test-form", as: db.Operator, path: "/notices/new", shows: koreanText, does: func(b *browser) {
			b.write("#title", koreanText)
			b.write("#body", longWord)
			b.click("#compose-test summary")
			b.click("#compose-test button")
			b.see("#test-form")
			b.write("#numbers", "1 2 3")
			b.click("#test-form button[value=find]")
			b.see("#test-devices")
			b.see("#test-form h2")
		}},
		{name: "test-form-last", as: db.Admin, path: "/notices/new", shows: "the devices of your last test", does: func(b *browser) {
			b.write("#title", hostileText)
			b.write("#body", arabicText)
			b.click("#compose-test summary")
			b.click("#compose-test button")
			b.see("#test-devices")
		}},
		{name: "compose-nobody", as: db.Operator, path: "/notices/new", shows: "No device has the tag seol. Did you mean seoul?", wrong: 422, does: func(b *browser) {
			b.write("#title", "Service interruption tonight")
			b.write("#body", "From 23:00 to 01:00 payments cannot be made.")
			b.write("#tags", "seol, "+longWord[:64])
			b.sends("#compose")
			b.see("#nobody input")
		}},
		{name: "compose-wrong", as: db.Operator, path: "/notices/new", shows: hostileText, wrong: 422, does: func(b *browser) {
			b.write("#title", hostileText)
			b.write("#body", strings.Repeat("x", 4100))
			b.write("#link", "javascript:alert(1)")
			b.sends("#compose")
			b.see("#compose .wrong")
		}},
		{name: "import-wrong", as: db.Operator, path: "/imports", shows: "Imports", wrong: 422, does: send("#import")},
		{name: "token-wrong", as: db.Admin, path: "/tokens", shows: "API tokens", wrong: 422, does: send("#token")},
		{name: "token-made", as: db.Admin, path: "/tokens", shows: "billing", does: func(b *browser) {
			b.write("#name", "billing")
			b.click("#token input[value=operator]")
			b.sends("#token")
			b.see("#made")
		}},
		{name: "user-wrong", as: db.Admin, path: "/users", shows: "People", wrong: 422, does: send("#invite")},
		{name: "user-invited", as: db.Admin, path: "/users", shows: "Give this link to", does: func(b *browser) {
			b.write("#email", "new@example.com")
			b.click("#invite input[value=support]")
			b.sends("#invite")
			b.see("#link")
		}},
		{name: "account-wrong", as: db.Support, path: "/account", shows: "Your account", wrong: 422, does: func(b *browser) {
			b.write("#new", "short")
			b.sends("#password")
			b.see("#password .wrong")
		}},
		{name: "second-wrong", as: db.Support, path: "/account/second", shows: "Second factor", wrong: 422, does: func(b *browser) {
			b.write("#code", "000000")
			b.sends("#second")
			b.see("#second .wrong")
		}},
		{name: "second-codes", as: db.Support, path: "/account/second", shows: "shown now and never again", does: func(b *browser) {
			b.write("#code", b.codeNow(b.textOf("code.secret")))
			b.sends("#second")
			b.see("#codes")
		}},
		{name: "second-on", as: db.Support, path: "/account/second", shows: "Second factor"},
		{name: "signin-code", path: "/signin", shows: "code", does: func(b *browser) {
			b.write("#email", "sam@example.com")
			b.write("#password", "correct horse")
			b.sends("#signin")
			b.at("/signin/code")
		}},
	}
}

// sends sends a form past what the browser itself would keep back.
func (b *browser) sends(form string) {
	b.t.Helper()
	b.see(form)
	_, err := b.page.Eval(`form => { const f = document.querySelector(form); f.noValidate = true; f.querySelector("button[type=submit]").click(); }`, form)
	b.no(err)
}
