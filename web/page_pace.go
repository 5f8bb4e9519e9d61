package web

import (
	"bongsu/db"
	"bongsu/views"
)

// shapePace leaves the end out: while a notice is being sent it is now, which alone is
// no reason to draw the chart anew.
func shapePace(p db.Pace) views.Pace {
	v := views.Pace{From: stamp(p.From), Width: int64(p.Width.Seconds()), Unkept: p.Unkept}
	for _, s := range p.Steps {
		v.Steps = append(v.Steps, views.PaceStep{At: stamp(s.At), Sent: s.Sent, Failed: s.Failed, Back: s.Back})
	}
	return v
}
