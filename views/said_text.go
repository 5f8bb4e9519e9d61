package views

import "bongsu/views/ui"

// Words is what a page tells after an act, or instead of one.
type Words struct {
	NoticePaused, NoticeResumed, NoticeCancelled, DeviceErased, TaskRuns, TaskDeleted, VendorCalled string
	NoSuchToken, ChooseFirst, DigitsOnly, BadTime, BadNotice                                        string
	SignedOut, SignedOutWhat, SignIn, NotAskedYet, AllMove, RedisAnswers, RedisSilent               string
}

// Said gives the words that handlers say.
func Said() Words {
	return Words{
		NoticePaused: "The notice is paused. No new call is made.", NoticeResumed: "The notice goes on.",
		NoticeCancelled: "The notice is cancelled.", DeviceErased: "The device is erased.",
		TaskRuns: "The task runs now.", TaskDeleted: "The task is deleted.", VendorCalled: "The vendor is called again.",
		NoSuchToken: "No device has this token now.", ChooseFirst: "Choose at least one delivery first.",
		DigitsOnly: "A device's number has digits only.", BadTime: "must be a day and a time, such as 2027-01-31T18:00",
		BadNotice:     "must be the number of a notice",
		SignedOut:     "You are signed out.",
		SignedOutWhat: "Nothing was done. Sign in in a new tab, then come back and press again: what you typed stays here.",
		SignIn:        "Sign in", AllMove: "every notice under way moves", RedisAnswers: "it answers", RedisSilent: "it does not answer",
		NotAskedYet: "no worker has asked it yet",
	}
}

// SaidMarked says how many unknown deliveries an operator settled as sent.
func SaidMarked(n int64) string {
	return ui.Of(n, "delivery is", "deliveries are") + " marked as sent."
}

// SaidResent says how many unknown deliveries an operator sends again.
func SaidResent(n int64) string {
	return ui.Of(n, "delivery waits", "deliveries wait") + " to be sent again."
}
