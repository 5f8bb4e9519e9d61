// Package pushsim is a stand-in for an HTTP push vendor: a small server that
// takes the calls of a sender, misbehaves where it is told to, and counts what
// it took. Tests start it in their own process, the vendor command runs it
// alone. It knows the wire and nothing of the sender: it imports no other
// package of this module, so a mistake in the sender's types cannot hide here.
//
// # Calls
//
// A call is a POST to any path outside /_control/, with a JSON object as its
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
//	POST /_control/mend      {"prefix":"down-"}: tokens that begin so are good
//	POST /_control/break     the same, to undo it
//	GET  /_control/calls?token=T&notice=N
//	                         {"delivered":n,"calls":[…]}; the list of calls is
//	                         kept with Config.KeepCalls only
//	GET  /_control/twice     [{"token":…,"notice":…}]: the first 1,000 pairs that
//	                         were delivered more than once
package pushsim
