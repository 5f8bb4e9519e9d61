// Package pushsim is a stand-in for push vendors: a small server that
// takes the calls of a sender, misbehaves where it is told to, and counts what
// it took. Tests start it in their own process, the vendor command runs it
// alone. It knows the wire and nothing of the sender: it imports no other
// package of this module, so a mistake in the sender's types cannot hide here.
//
// # Calls
//
// A call to the HTTP vendor is a POST to any path that is not another vendor's nor
// below /_control/, with a JSON object as its
// body that has a non-empty string "token" and an integer "notice_id". Other
// methods get 405, other bodies 400. A taken call is answered 200 with
// {"message_id":"…"}. Everything is decided and counted when the call has been
// read; only then the latency passes and the answer is written. So a sender
// that dies while it waits has been served all the same.
//
// How a token begins decides what happens to it:
//
//	expired-    410
//	down-       503, always
//	bad-        400
//	forbidden-  403
//	busy-       429 with Retry-After: 1 for its first call, taken after that
//	slow-       no answer: it hangs until the client goes, at most 60 s
//	drop-       the first call under each Idempotency-Key is taken and the
//	            connection cut without an answer; later ones are answered. A call
//	            without a key is told by its token and notice_id instead
//	html-       200 with an HTML page, not taken
//	error-      200 with {"error":{"code":"…","message":"…"}}, not taken
//
// All other tokens are good. Config.TransientShare of the calls to good tokens
// are answered 503; each call draws anew. With HonourKeys a call that repeats
// an Idempotency-Key that was taken before gets the same 200 with the same
// message_id and counts as a call, but not as one more delivery. Refusals are
// not remembered.
//
// # FCM
//
// The same listener plays FCM's HTTP v1 API and Google's token endpoint, by HTTP/2
// without TLS (with prior knowledge, 100 calls at once a connection) and HTTP/1.1:
// POST /v1/projects/{project}/messages:send and POST /token. NewFCMKey and
// /_control/fcm/key make service account keys. It checks what FCM checks in this
// order: the access token, the project, JSON, names, one target, strings, names in
// data, 4096 bytes of notification and data, the ttl; then how the token begins. A
// fid is counted as "fid:" and itself, data.notice_id is the notice, and there is
// no Idempotency-Key. With validate_only nothing is delivered. The prefixes above
// and the switches below mean the same in FCM's words, and there are more:
//
//	expired-     404 UNREGISTERED
//	bad-         400 INVALID_ARGUMENT, also for a token with spaces
//	forbidden-   403 SENDER_ID_MISMATCH
//	thirdparty-  401 THIRD_PARTY_AUTH_ERROR
//	invalid-     400 INVALID_ARGUMENT on a field that is not the token
//	internal-    500 INTERNAL
//	quota-       429 QUOTA_EXCEEDED with Retry-After: 1, always
//	quotadate-   the same with a date in two minutes
//	quotaopen-   the same without Retry-After
//	page-        503 with an HTML page
//	goaway-      taken; the connection ends with GOAWAY after the answer
//
// # Web Push
//
// The same listener is a browser's push service: POST /wp/{token}, where
// WebPushSubscription and /_control/webpush/subscription give the endpoint and keys
// that belong to a token. It checks what push services check in this order: the
// VAPID header, its signature, aud, exp (24 hours at most), sub; TTL, Urgency, Topic
// (at most 32 of the base64url alphabet, no length that base64url cannot have),
// Content-Encoding, 4096 bytes, one record of RFC 8188; which key signed; and, as no
// push service can, that the subscription's keys open it. The payload's notice_id is
// the notice. The prefixes and switches mean the same as above, with these words:
//
//	expired-     410, errno 106
//	missing-     404, errno 102
//	bad-         400, errno 110
//	forbidden-   403 with Google's page: another key made the subscription
//	otherkey-    403 VapidPkHashMismatch
//	badjwt-      403 BadJwtToken
//	topic-       400 BadWebPushTopic
//	throttled-   406 with Retry-After: 1 and Microsoft's header
//	internal-    500
//	quota-, quotadate-, quotaopen-, page-, goaway-   as with FCM
//
// # Control
//
// The same listener answers under /_control/, in JSON and without a password:
//
//	GET  /_control/counts    Counts
//	POST /_control/reset     forgets the counts, the deliveries and the keys
//	GET  /_control/switches  what is switched on
//	POST /_control/switches  changes the named fields and answers with all of
//	                         them: "outage" (503 to all), "refuse" (401 to all),
//	                         "forbid" (403 to all), "redirect" (302 to this URL;
//	                         "" ends it), "rate_limit" (429 to all with this
//	                         Retry-After, such as "2s"; "0s" ends it), "latency",
//	                         "jitter", "transient_share", "honour_keys"
//	                         "fcm" has the switches of FCM alone: "token_outage",
//	                         "token_hang", "token_life", "retry_after" (how
//	                         rate_limit names its time: seconds, date or none),
//	                         "page" (503 with an HTML page to all), "goaway_every"
//	                         "webpush" has those of Web Push alone: "key" (the only
//	                         public key that subscriptions were made with; "" any),
//	                         "blind" (bodies are not opened, so the Topic stands for
//	                         the notice), "retry_after" and "page" as FCM's
//	GET  /_control/webpush/subscription?token=T
//	                         {"endpoint":…,"keys":{"p256dh":…,"auth":…}}, as browsers
//	                         write it
//	POST /_control/fcm/key?project=P
//	                         makes a service account key and answers with its file
//	POST /_control/fcm/revoke
//	                         deletes the keys made so far and their access tokens
//	POST /_control/fcm/forget
//	                         ends all access tokens; the keys stay good
//	POST /_control/mend      {"prefix":"down-"}: tokens that begin so are good
//	POST /_control/break     the same, to undo it
//	GET  /_control/calls?token=T&notice=N
//	                         {"delivered":n,"calls":[…]}; the list of calls is
//	                         kept with Config.KeepCalls only
//	GET  /_control/twice     [{"token":…,"notice":…}]: the first 1,000 pairs that
//	                         were delivered more than once
package pushsim
