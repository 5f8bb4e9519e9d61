package pushfcm

import (
	"encoding/json"
	"strings"
)

// failure is the error object of Google's APIs (https://google.aip.dev/193) with
// the details that FCM gives.
type failure struct {
	Code    json.RawMessage `json:"code"`
	Message string          `json:"message"`
	Status  string          `json:"status"`
	Details []detail        `json:"details"`
}

// detail has the members of all the kinds that mean something here.
type detail struct {
	Type       string      `json:"@type"`
	ErrorCode  string      `json:"errorCode"`       // of FcmError
	Reason     string      `json:"reason"`          // of ApnsError
	Violations []violation `json:"fieldViolations"` // of BadRequest
}

type violation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

const (
	typeFCM        = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
	typeAPNs       = "type.googleapis.com/google.firebase.fcm.v1.ApnsError"
	typeBadRequest = "type.googleapis.com/google.rpc.BadRequest"
)

// readFailure gives the error object, or nil where the body is not Google's.
func readFailure(body []byte) *failure {
	var b struct {
		Error *failure `json:"error"`
	}
	if !isObject(body) || !decode(body, &b) {
		return nil
	}
	return b.Error
}

// fcmCode is FCM's own code, or nothing.
func (f *failure) fcmCode() string {
	for _, d := range f.Details {
		if d.Type == typeFCM && d.ErrorCode != "" {
			return d.ErrorCode
		}
	}
	return ""
}

func (f *failure) apnsReason() string {
	for _, d := range f.Details {
		if d.Type == typeAPNs {
			return d.Reason
		}
	}
	return ""
}

func (f *failure) violations() (all []violation) {
	for _, d := range f.Details {
		if d.Type == typeBadRequest {
			all = append(all, d.Violations...)
		}
	}
	return all
}

// code is the most telling code there is: FCM's, else the status, else the number.
func (f *failure) code() string {
	if c := f.fcmCode(); c != "" {
		return c
	}
	if f.Status != "" {
		return f.Status
	}
	return strings.Trim(string(f.Code), `"`)
}

// invalid tells whether something in the request is said to be invalid.
func (f *failure) invalid() bool {
	return f.fcmCode() == "INVALID_ARGUMENT" || f.fcmCode() == "" && f.Status == "INVALID_ARGUMENT"
}
