package main

import (
	"fmt"
	"net/url"
)

// Devices that a newcomer is led to: what became of them is the same in each run.
const (
	tourExpired = 17 // the vendor answers 410
	tourDown    = 63 // the vendor answered 503 until it was mended
)

// demoUser names the user of device i: two devices each.
func demoUser(i int) string { return fmt.Sprintf("person-%d", i/2) }

// tour says what each role may look at first.
func (d *demo) tour() {
	notice := fmt.Sprintf("%s/notices/%d", d.base, d.notice)
	devices := func(i int) string {
		q := url.Values{"user": {demoUser(i)}, "notice": {fmt.Sprint(d.notice)}}
		return d.base + "/devices?" + q.Encode()
	}
	fmt.Fprintf(d.app.stdout, `
What to look at, with the passwords above:
  operator  %s  the notice: its chart, its steps, what failed and why
            %s/notices/new  write one to the tag %s; "Send a test first" finds the devices of the user %s
  support   %s  why the notice did not reach a device of %s: the vendor answered 410, so the device is disabled
            %s  a device of %s that failed four times, and arrived once it was replayed
  admin     %s/archive  what failed for good; %s/status  how everything is; %s/audit  who did what

The panel goes on at %s. Ctrl-C ends everything.
`, notice, d.base, d.tag, demoUser(0), devices(tourExpired), demoUser(tourExpired), devices(tourDown), demoUser(tourDown), d.base, d.base, d.base, d.base)
}
