package web

// pageRoutes are the screens and what can be done on them. A fragment is a part
// of a page that a timer or a field asks for.
func pageRoutes() []route {
	return []route{
		{method: "GET", path: "/signin", kind: open, handle: signInPage},
		{method: "POST", path: "/signin", kind: open, handle: submitSignIn},
		{method: "POST", path: "/signout", kind: page, roles: anyone, handle: submitSignOut, beforeSecond: true},
		{method: "GET", path: "/{$}", kind: page, roles: anyone, handle: startPage},

		{method: "GET", path: "/notices", kind: page, roles: anyone, handle: noticesPage},
		{method: "GET", path: "/notices/new", kind: page, roles: operators, handle: composePage},
		{method: "POST", path: "/notices", kind: page, roles: operators, handle: submitNotice},
		{method: "GET", path: "/notices/audience", kind: fragment, roles: operators, handle: audienceFragment},
		{method: "POST", path: "/notices/test", kind: page, roles: operators, handle: testForm, once: true},
		{method: "GET", path: "/test-sends/{id}", kind: page, roles: anyone, handle: testSendPage},
		{method: "GET", path: "/test-sends/{id}/progress", kind: fragment, roles: anyone, handle: testSendFragment, quiet: true},
		{method: "POST", path: "/notices/{id}/repeat", kind: page, roles: operators, handle: repeatNotice},
		{method: "GET", path: "/notices/{id}", kind: page, roles: anyone, handle: noticePage},
		{method: "GET", path: "/notices/{id}/progress", kind: fragment, roles: anyone, handle: noticeFragment, quiet: true},
		{method: "POST", path: "/notices/{id}/pause", kind: page, roles: operators, handle: pauseNotice},
		{method: "POST", path: "/notices/{id}/resume", kind: page, roles: operators, handle: resumeNotice},
		{method: "GET", path: "/notices/{id}/cancel", kind: page, roles: operators, handle: cancelPage},
		{method: "POST", path: "/notices/{id}/cancel", kind: page, roles: operators, handle: cancelNotice},
		{method: "GET", path: "/notices/{id}/deliveries", kind: page, roles: anyone, handle: deliveriesPage},
		{method: "POST", path: "/notices/{id}/unknown", kind: page, roles: operators, handle: resolveUnknown},

		{method: "GET", path: "/imports", kind: page, roles: operators, handle: importsPage},
		{method: "POST", path: "/imports", kind: page, roles: operators, handle: submitImport, long: true, bodyLimit: uploadLimit},
		{method: "GET", path: "/imports/template.csv", kind: page, roles: operators, handle: importTemplate},
		{method: "GET", path: "/imports/{id}", kind: page, roles: operators, handle: importPage},
		{method: "GET", path: "/imports/{id}/progress", kind: fragment, roles: operators, handle: importFragment, quiet: true},
		{method: "GET", path: "/imports/{id}/rejected.csv", kind: page, roles: operators, handle: rejectedCSV, long: true},
		{method: "GET", path: "/imports/{id}/cancel", kind: page, roles: operators, handle: cancelImportPage},
		{method: "POST", path: "/imports/{id}/cancel", kind: page, roles: operators, handle: cancelImport},
		{method: "POST", path: "/imports/{id}/confirm", kind: page, roles: operators, handle: confirmImport},
		{method: "POST", path: "/imports/{id}/decline", kind: page, roles: operators, handle: declineImport},
		{method: "GET", path: "/devices/export", kind: page, roles: admins, handle: exportPage},
		{method: "GET", path: "/devices/export.csv", kind: page, roles: admins, handle: devicesCSV, long: true},

		{method: "GET", path: "/devices", kind: page, roles: support, handle: devicesPage},
		{method: "POST", path: "/devices/find", kind: page, roles: support, handle: findDevice},
		{method: "GET", path: "/devices/{id}", kind: page, roles: support, handle: devicePage},
		{method: "GET", path: "/devices/{id}/erase", kind: page, roles: support, handle: erasePage},
		{method: "POST", path: "/devices/{id}/erase", kind: page, roles: support, handle: eraseDevice},

		{method: "GET", path: "/archive", kind: page, roles: admins, handle: archivePage},
		{method: "POST", path: "/archive/replays", kind: page, roles: admins, handle: startReplay},
		{method: "GET", path: "/archive.csv", kind: page, roles: admins, handle: archiveCSV, long: true},
		{method: "GET", path: "/archive/plans/{id}", kind: page, roles: admins, handle: planPage},
		{method: "POST", path: "/archive/plans/{id}/start", kind: page, roles: admins, handle: startPlan},
		{method: "POST", path: "/archive/replays/{id}/pause", kind: page, roles: admins, handle: pauseReplay},
		{method: "POST", path: "/archive/replays/{id}/resume", kind: page, roles: admins, handle: resumeReplay},
		{method: "GET", path: "/archive/replays/{id}/cancel", kind: page, roles: admins, handle: cancelReplayPage},
		{method: "POST", path: "/archive/replays/{id}/cancel", kind: page, roles: admins, handle: cancelReplay},
		{method: "GET", path: "/archive/replays/{id}", kind: page, roles: admins, handle: replayPage},
		{method: "GET", path: "/archive/replays/{id}/progress", kind: fragment, roles: admins, handle: replayFragment, quiet: true},

		{method: "GET", path: "/queues", kind: page, roles: admins, handle: queuesPage},
		{method: "GET", path: "/queues/{queue}", kind: page, roles: admins, handle: queuePage},
		{method: "POST", path: "/queues/{queue}/tasks", kind: page, roles: admins, handle: actOnTask},

		{method: "GET", path: "/status", kind: page, roles: anyone, handle: statusPage, outage: true},
		{method: "GET", path: "/status/live", kind: fragment, roles: anyone, handle: statusFragment, quiet: true, outage: true},
		{method: "GET", path: "/runbook", kind: open, handle: runbookPage},
		{method: "GET", path: "/runbook/{message}", kind: open, handle: runbookPage},
		{method: "POST", path: "/vendor/resume", kind: page, roles: admins, handle: resumeVendor},
		{method: "POST", path: "/vendor/agree", kind: page, roles: admins, handle: agreeRefusals},
	}
}
