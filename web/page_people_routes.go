package web

// peopleRoutes are the screens about who may do what, and who did.
func peopleRoutes() []route {
	return []route{
		{method: "GET", path: "/welcome/{token}", kind: open, handle: welcomePage},
		{method: "POST", path: "/welcome/{token}", kind: open, handle: submitWelcome},

		{method: "GET", path: "/signin/code", kind: open, handle: signInCodePage},
		{method: "POST", path: "/signin/code", kind: open, handle: submitSignInCode},

		{method: "GET", path: "/account/second", kind: page, roles: anyone, handle: secondPage, beforeSecond: true},
		{method: "POST", path: "/account/second", kind: page, roles: anyone, handle: turnSecondOn, beforeSecond: true},
		{method: "POST", path: "/account/second/off", kind: page, roles: anyone, handle: turnSecondOff},
		{method: "GET", path: "/account", kind: page, roles: anyone, handle: accountPage},
		{method: "POST", path: "/account/password", kind: page, roles: anyone, handle: changePassword},
		{method: "POST", path: "/account/sessions", kind: page, roles: anyone, handle: endOwnSession},

		{method: "GET", path: "/users", kind: page, roles: admins, handle: usersPage},
		{method: "POST", path: "/users", kind: page, roles: admins, handle: inviteUser},
		{method: "GET", path: "/users/{id}", kind: page, roles: admins, handle: userPage},
		{method: "POST", path: "/users/{id}/role", kind: page, roles: admins, handle: setRole},
		{method: "GET", path: "/users/{id}/disable", kind: page, roles: admins, handle: disableUserPage},
		{method: "POST", path: "/users/{id}/disable", kind: page, roles: admins, handle: disableUser},
		{method: "POST", path: "/users/{id}/enable", kind: page, roles: admins, handle: enableUser},
		{method: "POST", path: "/users/{id}/link", kind: page, roles: admins, handle: newUserLink, once: true},
		{method: "POST", path: "/users/{id}/second", kind: page, roles: admins, handle: dropUserSecond},
		{method: "POST", path: "/users/{id}/sessions", kind: page, roles: admins, handle: endUserSessions},

		{method: "GET", path: "/tokens", kind: page, roles: admins, handle: tokensPage},
		{method: "POST", path: "/tokens", kind: page, roles: admins, handle: makeToken, once: true},
		{method: "GET", path: "/tokens/{id}/revoke", kind: page, roles: admins, handle: revokePage},
		{method: "POST", path: "/tokens/{id}/revoke", kind: page, roles: admins, handle: revokeToken},

		{method: "GET", path: "/audit", kind: page, roles: admins, handle: auditPage},
		{method: "GET", path: "/audit.csv", kind: page, roles: admins, handle: auditCSV, long: true},
		{method: "GET", path: "/settings", kind: page, roles: admins, handle: settingsPage},
	}
}
