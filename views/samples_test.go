package views_test

import (
	"fmt"
	"strings"

	"bongsu/views"

	"github.com/a-h/templ"
)

// Texts that must come out as text, whatever they look like.
var hostile = []string{
	`<script>alert("1")</script><img src=x onerror=alert(2)>`,
	"\u202eright to left override and العربية, then </title></textarea>",
	strings.Repeat("x", 5000),
	`" autofocus onfocus=alert(3) x='`,
}

func shell(section string) views.Shell {
	return views.Shell{Section: section, User: "ada@example.com", Role: "admin",
		Can: views.Can{Send: true, Devices: true, Archive: true, Admin: true}}
}

func progress(state string, c views.Counts) views.Progress {
	return views.Progress{
		NoticeID: "17", PollEvery: "1s", PollHref: "/notices/17/progress?v=9", Live: state != "finished", State: state, Counts: c, AllKnown: true,
		Rate: 7210, RateAll: 6800, Left: 43, LookedAt: "2026-12-01T05:12:00Z",
		Phases: []views.Phase{
			{Name: "accepted", Done: true, At: "2026-12-01T05:11:00Z"},
			{Name: "listed", Done: true, At: "2026-12-01T05:11:01Z"},
			{Name: "first", Now: true}, {Name: "retries"}, {Name: "finished"},
		},
		Pace: views.Pace{From: "2026-12-01T05:11:00Z", To: "2026-12-01T05:11:03Z", Width: 1, Steps: []views.PaceStep{
			{At: "2026-12-01T05:11:00Z", Sent: 100}, {At: "2026-12-01T05:11:01Z", Sent: 300, Failed: 20}, {At: "2026-12-01T05:11:02Z"}, {At: "2026-12-01T05:11:03Z", Failed: 2, Back: 7}}},
		Groups: []views.ReasonGroup{
			{Status: "failed", Reason: "token_expired", N: 100, Href: "/notices/17/deliveries?status=failed", ArchiveHref: "/archive?notice=17&reason=token_expired"},
			{Status: "skipped", Reason: "no_consent", N: 3, Href: "/notices/17/deliveries?status=skipped"},
		},
		Acts: views.Acts{NoticeID: "17", Pause: true, Cancel: true, Repeat: true, RepeatID: "17"},
	}
}

func notice() views.Notice {
	return views.Notice{
		Shell: shell("notices"), ID: "17", Title: "정기 점검 안내: 오늘 밤 2시", Body: "The service rests from 02:00 to 03:00.\nThank you.",
		Link: "https://example.com/maintenance", Category: "info", Audience: "android, ios; tags vip, seoul",
		AcceptedAt: "2026-12-01T05:11:00Z", AcceptedBy: "ada@example.com", ExpiresAt: "2026-12-02T05:11:00Z",
		Progress: progress("sending", views.Counts{Total: 12000, Pending: 3578, Retrying: 90, Sending: 10, Sent: 8300, Failed: 22}),
	}
}

func troubled() views.Notice {
	m := notice()
	m.Original = true
	m.Newest = views.Repeat{ID: "19", State: "cancelled"}
	m.RepeatOf = "12"
	m.Progress.Acts.RepeatID, m.Progress.Acts.RepeatState = "19", "cancelled"
	m.Progress.QueueDownSince = "2026-12-01T05:11:30Z"
	m.Progress.NoWorker, m.Progress.NoWorkerSince = true, "2026-12-01T05:11:40Z"
	m.Progress.StalledSince = "2026-12-01T05:11:45Z"
	m.Progress.NextDueAt = "2026-12-01T05:12:20Z"
	m.Progress.Twice = 7
	m.Progress.Counts.Unknown, m.Progress.Counts.Total = 4, 12004
	m.Paused = &views.VendorPaused{Reason: "credentials_refused", Detail: "401 <b>bad token</b>", Since: "2026-12-01T05:11:10Z",
		NextProbeAt: "2026-12-01T05:13:00Z", Waiting: 3578, CanResume: true}
	m.Badge = views.Badge{Text: "sending waits: queue away", State: views.StateDown}
	m.Flash = views.Flash{Text: "The notice is paused."}
	return m
}

func row(i int) views.DeliveryRow {
	return views.DeliveryRow{NoticeID: "17", NoticeTitle: "정기 점검 안내", DeviceID: fmt.Sprint(4711 + i), Status: "failed", Reason: "token_expired",
		Code: "UNREGISTERED", Message: "the token is <i>gone</i>", Attempts: 1, Generation: 1, At: "2026-12-01T05:11:09Z"}
}

func rows(n int) []views.DeliveryRow {
	out := make([]views.DeliveryRow, n)
	for i := range out {
		out[i] = row(i)
	}
	return out
}

func compose() views.Compose {
	return views.Compose{
		Shell: shell("compose"), Title: "정기 점검", Body: "Line one\nLine two", Link: "javascript:alert(1)", Category: "ad",
		Platforms: []string{"ios"}, Tags: "vip, seoul", ExpiresAt: "2026-12-01T20:00",
		Wrong:    map[string]string{"link": "must begin with https://, http:// or an app's own scheme"},
		RepeatOf: "17", RepeatTitle: "정기 점검", TitleLimit: 200, BodyLimit: 4000, Audience: views.Audience{Known: true, Devices: 12034},
	}
}

func device() views.Device {
	r := row(0)
	return views.Device{
		Shell: shell("devices"), ID: "4711", Token: "expired-…3f9a", At: views.Vendor{Kind: "webpush", Host: hostile[0]}, Platform: "ios", User: "kim <kim@example.com>", Consent: true,
		State: "disabled", StateReason: "token_expired", StateAt: "2026-12-01T05:11:09Z", Tags: []string{"vip", "seoul"},
		CreatedAt: "2026-10-01T05:11:09Z", RegisteredAt: "2026-11-01T05:11:09Z", CanErase: true,
		Link: "/devices/4711?notice=17", Notice: "17", NoticeAs: "정기 점검", Why: whyLines()["failed"],
		EventsFirst: "/devices/4711", EventsNext: "/devices/4711?events=7", Events: []views.DeviceEvent{
			{At: "2026-12-01T05:11:09Z", What: "disabled", Detail: "token_expired", By: "notice:17"},
			{At: "2026-11-09T05:11:09Z", What: "consent_given", By: "token:7", ByName: "shop"},
			{At: "2026-11-08T05:11:09Z", What: "consent_withdrawn", By: "import:5"},
			{At: "2026-11-07T05:11:09Z", What: "platform", Detail: "android", By: "user:3", ByName: "ada@example.com"},
		},
		History: []views.DeliveryHistory{{DeliveryRow: r, Attempt: []views.AttemptRow{
			{At: "2026-12-01T05:11:05.123Z", TookMS: 3002, Outcome: "transient", Reason: "timeout", Charged: true, Doubt: true, Generation: 1},
			{At: "2026-12-01T05:11:09.456Z", TookMS: 31, Outcome: "dead", Reason: "token_expired", Code: "UNREGISTERED", Message: hostile[0], HTTP: 410, Charged: false, Generation: 2, MessageID: "m-1"},
		}}, {DeliveryRow: views.DeliveryRow{NoticeID: "18", NoticeTitle: "Another", Status: "skipped", Reason: "no_consent", At: "2026-12-01T05:11:09Z"}}},
	}
}

// whyLines are a line of each case, with all that any case may have.
func whyLines() map[string]*views.WhyLine {
	out := map[string]*views.WhyLine{}
	for _, c := range strings.Fields(`sent waiting retry paused vendor_paused sending failed skipped unknown no_notice no_device later
		to_come to_come_paused cancelling expiring erased platform tags disabled no_consent tags_changed erased_since not_then`) {
		out[c] = &views.WhyLine{Case: c, NoticeID: "17", NoticeTitle: "정기 점검", DeviceID: "4711", AcceptedAt: "2026-12-01T05:11:00Z",
			At: "2026-12-01T05:11:01Z", Since: "2026-12-01T05:11:02Z", Until: "2026-12-01T05:11:03Z", Reason: "token_expired", Code: "410",
			Message: hostile[0], By: "ada@example.com", Platform: "android", Platforms: "ios, web", Tags: "vip, seoul"}
	}
	return out
}

func archive() views.Archive {
	return views.Archive{
		Shell: shell("archive"), Filter: views.ArchiveFilter{Notice: "17", Reason: "token_expired", Code: hostile[0], Platform: "ios", Since: "2026-12-01T05:00"},
		Matched: 100, CanReplay: true, Items: rows(3), NextHref: "/archive?cursor=x", CSVHref: "/archive.csv?notice=17",
		Runs: []views.ReplayRun{replay("paused", false).Run, replay("done", false).Run},
		Groups: []views.ArchiveGroup{
			{Href: "/archive?notice=17&reason=vendor_error", Reason: "vendor_error", N: 12345},
			{Href: "/archive?notice=17&reason=token_expired", Reason: "token_expired", N: 100, On: true, FirstAt: "2026-12-01T05:00:00Z", LastAt: "2026-12-01T05:11:09Z"},
		},
	}
}

func plan() views.ReplayPlan {
	return views.ReplayPlan{Shell: shell("archive"), ID: "7", Filter: archive().Filter, Matched: 12345, Rate: 500, Back: "/archive",
		Refused: []views.ReasonGroup{{Reason: "device_disabled", N: 40}, {Reason: "expired", N: 5}}, AskedBy: "ada@example.com", AskedAt: "2026-12-01T05:11:09Z"}
}

func status() views.Status {
	return views.Status{
		Shell: shell("status"),
		Live: views.StatusLive{LookedAt: "2026-12-01T05:12:00Z", Can: shell("").Can, Items: []views.StatusRow{
			{Key: "database", State: "ok", Facts: "answered in 1 ms"},
			{Key: "redis", State: "down", Message: "redis-down", Facts: "connection refused", Since: "2026-12-01T05:11:00Z"},
			{Key: "vendor", State: "down", Message: "vendor-outage", Since: "2026-12-01T05:11:00Z", Next: "2026-12-01T05:12:02Z"},
			{Key: "workers", State: "ok", Facts: "2 running"}, {Key: "feeder", State: "unknown"},
			{Key: "backlog", State: "warn", Message: "backlog-old", Facts: "12,345 waiting, the oldest for 2 min"},
			{Key: "notices", State: "warn", Message: "notice-stalled", Links: []views.StatusLink{{Href: "/notices/17", Text: "#17 정기 점검", Since: "2026-12-01T05:10:00Z"}}},
			{Key: "disk", State: "ok", Facts: "10.0 GB of 20.0 GB free"},
		}, Workers: []views.WorkerRow{
			{ID: "host-1-abc", StartedAt: "2026-12-01T05:00:00Z", SeenAt: "2026-12-01T05:11:59Z", InFlight: 256, Slots: 256, Version: "dev"},
			{ID: "host-2-def", StartedAt: "2026-12-01T05:00:00Z", SeenAt: "2026-12-01T05:01:59Z", Slots: 256, Version: "dev", Lost: true},
		}},
		Ladder: []views.Limit{{Name: "browser", Value: "15s", Longer: "proxy (12s)", OK: true},
			{Name: "proxy", Value: "12s", Longer: "server write (11s)", Variable: "BONGSU_PROXY_TIMEOUT"}},
	}
}

func queue() views.Queue {
	return views.Queue{Shell: shell("queues"), Name: "push", State: "archived",
		Tabs:  []views.Tab{{Href: "/queues/push?state=pending", Label: "pending", N: 12}, {Href: "/queues/push?state=archived", Label: "archived", N: 1, On: true}},
		Items: []views.TaskRow{{ID: "range:17:3:1", Kind: "push:range", Payload: `{"notice":17}`, LastError: "panic: <nil>", Retried: 3, MaxRetry: 3, FailedAt: "2026-12-01T05:11:09Z", CanRun: true, CanDelete: true}}}
}

func replay(state string, live bool) views.Replay {
	return views.Replay{Shell: shell("archive"), Run: views.ReplayRun{ID: "3", PollEvery: "1s", PollHref: "/archive/replays/3/progress?v=2", State: state, Filter: views.ArchiveFilter{Notice: "17", Reason: "token_expired"}, Matched: 101, Replayed: 60, FailedAgain: 3,
		Skipped: []views.ReasonGroup{{Reason: "device_disabled", N: 40}}, AskedBy: "ada@example.com", AskedAt: "2026-12-01T05:11:09Z", Live: live}}
}

func cancelReplay() views.Confirm {
	m := views.CancelReplayText(replay("running", true).Run)
	m.Shell, m.Action, m.Back = shell("archive"), "/archive/replays/3/cancel", "/archive/replays/3"
	return m
}

// pages are all pages, in usual, empty and troubled states.
func pages() map[string]templ.Component {
	out := map[string]templ.Component{
		"signin":          views.SignInPage(views.SignIn{Email: "ada@example.com", Wrong: "The e-mail or the password is wrong."}),
		"notices":         views.NoticesPage(views.Notices{Shell: shell("notices"), NextHref: "/notices?cursor=abc", FirstHref: "/notices", Items: noticeRows()}),
		"notices-empty":   views.NoticesPage(views.Notices{Shell: shell("notices")}),
		"compose":         views.ComposePage(compose()),
		"compose-new":     views.ComposePage(views.Compose{Shell: shell("compose"), TitleLimit: 200, BodyLimit: 4000}),
		"notice":          views.NoticePage(notice()),
		"notice-trouble":  views.NoticePage(troubled()),
		"notice-finished": views.NoticePage(finished()),
		"notice-unkept":   views.NoticePage(unkept()),
		"test-form":       views.TestFormPage(testForm()),
		"test-form-empty": views.TestFormPage(views.TestForm{Compose: views.Compose{Shell: shell("compose")}, NotFound: true}),
		"test-send":       views.TestSendPage(testSend(true)),
		"test-send-done":  views.TestSendPage(testSend(false)),
		"cancel":          views.ConfirmPage(cancel()),
		"deliveries":      views.DeliveriesPage(views.Deliveries{Shell: shell("notices"), NoticeID: "17", NoticeTitle: "정기 점검", Status: "failed", Items: rows(3), CanDevices: true}),
		"unknown": views.DeliveriesPage(views.Deliveries{Shell: shell("notices"), NoticeID: "17", NoticeTitle: "정기 점검", Status: "unknown", Items: rows(2), CanDecide: true,
			Tabs: []views.Tab{{Href: "/notices/17/deliveries", Label: "all", N: 12004}, {Href: "/notices/17/deliveries?status=unknown", Label: "unknown", N: 4, On: true}}}),
		"deliveries-empty": views.DeliveriesPage(views.Deliveries{Shell: shell("notices"), NoticeID: "17", NoticeTitle: "x", Status: "failed"}),
		"devices": views.DevicesPage(views.Devices{Shell: shell("devices"), User: "kim", Asked: true, Items: []views.DeviceRow{
			{ID: "4711", Token: "expired-…3f9a", At: views.Vendor{Kind: "apns", Environment: "sandbox"}, Platform: "ios", User: "kim", State: "active", Consent: true, Tags: []string{"vip"}, RegisteredAt: "2026-11-01T05:11:09Z"}}}),
		"devices-why": views.DevicesPage(views.Devices{Shell: shell("devices"), User: "kim", Asked: true, Notice: "17", NoticeAs: "정기 점검", Link: "/devices?user=kim&notice=17",
			Items: []views.DeviceRow{{ID: "4711"}, {ID: "4712"}}, Why: []views.WhyLine{*whyLines()["sent"], *whyLines()["no_consent"]}}),
		"devices-unsaid": views.DevicesPage(views.Devices{Shell: shell("devices"), User: "kim", Asked: true, Notice: "x", Unsaid: "must be the number of a notice", Items: []views.DeviceRow{{ID: "1"}}}),
		"devices-lookup": views.DevicesPage(views.Devices{Shell: shell("devices"), Notice: "17", NoticeAs: "정기 점검"}),
		"device-empty":   views.DevicePage(views.Device{Shell: shell("devices"), ID: "1", State: "active", CreatedAt: "2026-10-01T05:11:09Z", Link: "/devices/1"}),
		"devices-none":   views.DevicesPage(views.Devices{Shell: shell("devices"), User: "nobody", Asked: true}),
		"device":         views.DevicePage(device()),
		"archive":        views.ArchivePage(archive()),
		"archive-empty":  views.ArchivePage(views.Archive{Shell: shell("archive"), CanReplay: true}),
		"archive-wrong": views.ArchivePage(views.Archive{Shell: shell("archive"), Filter: views.ArchiveFilter{Notice: hostile[0], Since: "soon"},
			Wrong: map[string]string{"notice": "must be the number of a notice", "since": "must be a day"}}),
		"replay":           views.ReplayPage(replay("running", true)),
		"replay-paused":    views.ReplayPage(replay("paused", true)),
		"replay-cancelled": views.ReplayPage(replay("cancelled", false)),
		"plan":             views.ReplayPlanPage(plan()),
		"plan-empty":       views.ReplayPlanPage(views.ReplayPlan{Shell: shell("archive"), ID: "8", Listed: true, Back: "/archive"}),
		"replay-cancel":    views.ConfirmPage(cancelReplay()),
		"queues":           views.QueuesPage(views.Queues{Shell: shell("queues"), Items: []views.QueueRow{{Name: "push", Pending: 12, Archived: 1, OldestSeconds: 75}, {Name: "retry"}}}),
		"queues-down":      views.QueuesPage(views.Queues{Shell: shell("queues"), Down: "dial tcp: connection refused"}),
		"queue":            views.QueuePage(queue()),
		"status":           views.StatusPage(status()),
		"status-away":      views.StatusPage(views.Status{Live: views.StatusLive{Items: []views.StatusRow{{Key: "database", State: "down", Message: "database-down"}, {Key: "workers", State: "unknown"}}}}),
		"runbook":          views.RunbookPage(views.Runbook{}),
		"runbook-one":      views.RunbookPage(views.Runbook{Message: views.Messages()[0]}),
		"problem": views.ProblemPage(views.Problem{Title: "The database does not answer", What: "Your notice was not accepted.", Do: "Press again in a few seconds.",
			RequestID: "01J0", Since: "2026-12-01T05:11:00Z", Runbook: "/runbook/database-down", Back: "/", BackText: "To the start",
			Again: &views.Again{Action: "/notices", Fields: []views.Hidden{{Name: "title", Value: "정기 점검"}, {Name: "body", Value: "a\nb"}}}}),
	}
	for i, text := range hostile {
		for name, c := range hostilePages(text) {
			out[fmt.Sprintf("hostile-%d-%s", i, name)] = c
		}
	}
	return out
}

func noticeRows() []views.NoticeRow {
	return []views.NoticeRow{
		{Href: "/notices/17", Title: "정기 점검 안내: 오늘 밤 2시부터 3시까지", State: "sending", AcceptedAt: "2026-12-01T05:11:00Z", By: "ada@example.com", Total: 12000, Sent: 8300, Failed: 22, Waiting: 3678, RepeatOf: "12"},
		{Href: "/notices/16", Title: "Finished one", State: "finished", AcceptedAt: "2026-11-30T05:11:00Z", By: "ada@example.com", Total: 10000, Sent: 9800, Failed: 200},
		{Href: "/notices/15", Title: "Paused one", State: "paused", AcceptedAt: "2026-11-30T05:11:00Z", By: "shop", Total: 10000, Waiting: 10000},
		{Href: "/notices/14", Title: "Cancelled one", State: "cancelled", AcceptedAt: "2026-11-30T05:11:00Z", By: "shop", Total: 10000},
	}
}

func finished() views.Notice {
	m := notice()
	m.Progress = progress("finished", views.Counts{Total: 10000, Sent: 9800, Failed: 200})
	m.Progress.Rate, m.Progress.Left, m.Progress.FinishedAt = 0, 0, "2026-12-01T05:11:40Z"
	m.Progress.Acts = views.Acts{NoticeID: "17", Repeat: true, RepeatID: "17"}
	return m
}

func unkept() views.Notice {
	m := finished()
	m.Progress.Pace = views.Pace{Unkept: true}
	return m
}

func testForm() views.TestForm {
	c := compose()
	c.Wrong = map[string]string{"numbers": "A device's number has digits only."}
	return views.TestForm{Compose: c, Numbers: "4711 x", User: "kim", More: true, Most: 10,
		Faults: []views.TestFault{{Field: "title", Message: "is missing"}, {Field: "devices", Message: "choose at least one"}},
		Shown: []views.TestChoice{{DeviceRow: views.DeviceRow{ID: "4711", Token: "expired-…3f9a", Platform: "ios", State: "active", Consent: true}, On: true},
			{DeviceRow: views.DeviceRow{ID: "4712", Token: "…", Platform: "web", State: "erased"}}}}
}

func testSend(live bool) views.TestSend {
	return views.TestSend{Shell: shell("compose"), Title: "정기 점검", Body: "Line one\nLine two", Link: "https://example.com/", AskedAt: "2026-12-01T05:11:00Z",
		AskedBy: "ada@example.com", BackHref: "/notices/new?test=3", BeforeHref: "/test-sends/2", BeforeID: "2", BeforeAt: "2026-12-01T05:10:58Z",
		Live: views.TestLive{ID: "3", Live: live, PollHref: "/test-sends/3/progress?v=1", Items: []views.TestRow{
			{DeviceID: "4711", Token: "expired-…3f9a", Platform: "ios", Status: "failed", Reason: "token_expired", Code: "UNREGISTERED", Message: hostile[0], At: "2026-12-01T05:11:09Z"},
			{DeviceID: "4712", Token: "…", Platform: "web", Status: "sending", At: "2026-12-01T05:11:09Z"}}}}
}

func cancel() views.Confirm {
	m := views.CancelText("정기 점검", 3578)
	m.Shell, m.Action, m.Back = shell("notices"), "/notices/17/cancel", "/notices/17"
	return m
}

func hostilePages(text string) map[string]templ.Component {
	n := notice()
	n.Title, n.Body, n.Link, n.Audience, n.AcceptedBy = text, text, text, text, text
	d := device()
	d.User, d.Token, d.Tags, d.Installation = text, text, []string{text}, text
	w := *whyLines()["retry"]
	w.NoticeTitle, w.Reason, w.Code, w.Message, w.By, w.Tags = text, text, text, text, text, text
	d.Why, d.NoticeAs = &w, text
	d.Events[0].Detail, d.Events[1].ByName, d.Events[2].What, d.Events[3].By = text, text, text, text
	d.History[0].Message, d.History[0].Code, d.History[0].NoticeTitle, d.History[0].Attempt[1].Message = text, text, text, text
	c := compose()
	c.Title, c.Body, c.Link, c.Tags, c.Wrong, c.RepeatTitle = text, text, text, text, map[string]string{"title": text, "body": text}, text
	tf := testForm()
	tf.Title, tf.Body, tf.Numbers, tf.User, tf.Faults[0].Field, tf.Faults[0].Message = text, text, text, text, text, text
	ts := testSend(true)
	ts.Title, ts.Body, ts.Link, ts.AskedBy, ts.Live.Items[0].Code = text, text, text, text, text
	a := archive()
	a.Filter.Code, a.Items[0].Message, a.Items[0].NoticeTitle = text, text, text
	q := queue()
	q.Items[0].ID, q.Items[0].Payload, q.Items[0].LastError = text, text, text
	l := noticeRows()
	l[0].Title, l[0].By = text, text
	return map[string]templ.Component{
		"notice": views.NoticePage(n), "device": views.DevicePage(d), "compose": views.ComposePage(c), "archive": views.ArchivePage(a),
		"test-form": views.TestFormPage(tf), "test-send": views.TestSendPage(ts),
		"queue": views.QueuePage(q), "notices": views.NoticesPage(views.Notices{Shell: shell("notices"), Items: l}),
		"problem": views.ProblemPage(views.Problem{Title: text, What: text, Do: text, RequestID: text}),
	}
}
