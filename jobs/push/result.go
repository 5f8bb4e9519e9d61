package push

import "errors"

// ResultOf turns the two values of Send into the one that the ledger keeps. A
// call without an answer is transient; it leaves doubt where it was written.
func ResultOf(r Result, err error) Result {
	if err == nil {
		return r
	}
	r = Result{Outcome: Transient, Reason: Unreachable, Message: clip(err.Error(), 500)}
	var na *NoAnswerError
	if errors.As(err, &na) {
		r.Code, r.Doubt = na.Code, na.Written
		if na.Timeout {
			r.Reason = Timeout
		}
	}
	return r
}

// Definite tells whether the vendor's word is final about this attempt: it
// answered, so a later attempt under a new key cannot tell anybody twice.
func (r Result) Definite() bool { return !r.Doubt && r.Status != 0 }

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
