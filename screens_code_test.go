package main

import (
	"time"

	"github.com/go-rod/rod"
	"github.com/pquerna/otp/totp"
)

// codeNow gives the code of a second factor at this moment.
func (b *browser) codeNow(secret string) string {
	b.t.Helper()
	code, err := totp.GenerateCode(secret, time.Now())
	b.no(err)
	return code
}

func evalOf(js string) *rod.EvalOptions { return rod.Eval(js) }
