package pushfcm

import (
	"net/http"
	"strings"

	"bongsu/jobs/push"
)

// FCM's codes that decide, by
// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
const (
	unregistered = "UNREGISTERED"
	mismatch     = "SENDER_ID_MISMATCH"
	thirdParty   = "THIRD_PARTY_AUTH_ERROR"
)

// meaning is what a refusal says about the delivery.
type meaning struct {
	outcome push.Outcome
	reason  push.Reason
	guarded bool
	doubt   bool
}

var (
	gone       = meaning{outcome: push.Dead, reason: push.TokenExpired}
	goneOrOurs = meaning{outcome: push.Dead, reason: push.Rejected, guarded: true}
	unfit      = meaning{outcome: push.Unfit, reason: push.Rejected}
	permanent  = meaning{outcome: push.Permanent, reason: push.Rejected}
	settings   = meaning{outcome: push.Settings, reason: push.CredentialsRefused}
	limited    = meaning{outcome: push.Wait, reason: push.RateLimited}
	failing    = meaning{outcome: push.Transient, reason: push.VendorError}
	unsure     = meaning{outcome: push.Transient, reason: push.VendorError, doubt: true}
)

// meaningOf is the table of the answers that are no success. said is nil where
// the body is not Google's: then a page stands between us and FCM, and no device
// is judged by it.
func meaningOf(status int, said *failure) meaning {
	code := ""
	if said != nil {
		code = said.fcmCode()
	}
	switch {
	case status == http.StatusBadRequest && said != nil && said.invalid():
		return invalid(said)
	case status == http.StatusForbidden && code == mismatch:
		return goneOrOurs
	case status == http.StatusNotFound && code == unregistered:
		return gone
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return settings
	case http.StatusTooManyRequests:
		return limited
	case http.StatusInternalServerError:
		return failing
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return unsure
	}
	if status < 400 {
		return settings // a redirect: the URL is not FCM's
	}
	return permanent
}

// invalid reads a 400 by the field that it is about. One without a field is about
// the address only where it says so: FCM gives the same code for much else.
func invalid(said *failure) meaning {
	fields := 0
	address := true
	for _, v := range said.violations() {
		if v.Field == "" {
			continue
		}
		fields++
		address = address && isAddress(v.Field)
	}
	switch {
	case fields > 0 && address:
		return goneOrOurs
	case fields > 0:
		return unfit
	case strings.Contains(strings.ToLower(said.Message), "registration token"):
		return goneOrOurs
	}
	return permanent
}

func isAddress(field string) bool {
	return field == "message.token" || field == "message.fid"
}
