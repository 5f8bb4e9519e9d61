package main

import (
	"fmt"
	"math"

	"bongsu/db"
	"bongsu/jobs/push"
	pushfcm "bongsu/jobs/push/fcm"
	pushhttp "bongsu/jobs/push/http"
	pushweb "bongsu/jobs/push/webpush"
	"bongsu/web"
)

// payloadWords say what is too large for a vendor: how many bytes there are, how many it
// takes, and how many are too many.
var payloadWords = []struct {
	kind  push.Kind
	weigh func(push.Message) push.Weight
	words string
}{
	{push.KindHTTP, pushhttp.Weigh, "must be shorter: title, body and link have %d bytes together, and the vendor takes %d: %d too many"},
	{push.KindFCM, pushfcm.Weigh, "must be shorter: for FCM title, body and link have %d bytes with what goes along, and it takes %d: %d too many"},
	{push.KindWebPush, pushweb.Weigh, "must be shorter: for Web Push title, body and link have %d bytes with what goes along, and it takes %d: %d too many"},
}

// checkPayload tells which vendors a text is too large for, rendered as it would be sent.
func checkPayload(title, body, link string) (faults []web.PayloadFault) {
	m := push.Message{NoticeID: math.MaxInt64, CollapseID: fmt.Sprint(int64(math.MaxInt64)), Title: title, Body: body, Link: link}
	for _, v := range payloadWords {
		if w := v.weigh(m); w.Bytes > w.Max {
			faults = append(faults, web.PayloadFault{Kind: string(v.kind),
				FieldError: db.FieldError{Field: "body", Message: fmt.Sprintf(v.words, w.Bytes, w.Max, w.Bytes-w.Max)}})
		}
	}
	return faults
}
