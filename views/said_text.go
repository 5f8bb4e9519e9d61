package views

import "bongsu/views/ui"

// Words is what a page tells after an act, or instead of one.
type Words struct {
	NoticePaused, NoticeResumed, NoticeCancelled, DeviceErased, TaskRuns, TaskDeleted, VendorCalled                        string
	VendorTried, RefusalsAgreed                                                                                            string
	RoleChanged, PersonDisabled, PersonEnabled, SignedOutThere, SignedOutAll, PasswordChanged, TokenRevoked, SecondDropped string
	ImportConfirmed, ImportDeclined, ImportCancelled, All                                                                  string
	PasswordsDiffer, PasswordWrong, DaysWrong                                                                              string
	NoSuchToken, NoSuchDevice, NoSuchUser, NoSuchNotice, ChooseFirst, DigitsOnly, BadTime, BadNotice                       string
	ReplayPaused, ReplayResumed, ReplayCancelled, ReplayOther                                                              string
	ChooseDevice, TooManyDevices                                                                                           string
	SignedOut, SignedOutWhat, SignIn, NotAskedYet, AllMove, RedisAnswers, RedisSilent                                      string
}

// Said gives the words that handlers say.
func Said() Words {
	return Words{
		NoticePaused: "The notice is paused. No new call is made.", NoticeResumed: "The notice goes on.",
		NoticeCancelled: "The notice is cancelled.", DeviceErased: "The device is erased.",
		TaskRuns: "The task runs now.", TaskDeleted: "The task is deleted.", VendorCalled: "The vendor is called again.",
		VendorTried:    "The vendor is being tried now. Where it answers, sending goes on at once.",
		RefusalsAgreed: "The refusals of the notices there are now count as right. Sending goes on, and 410s disable devices again.",
		RoleChanged:    "The role is changed; it holds from the next request on.", PersonDisabled: "The person is disabled and signed out.",
		PersonEnabled: "The person can sign in again.", SignedOutThere: "That browser is signed out.", SignedOutAll: "Those browsers are signed out.",
		PasswordChanged: "The password is changed, and every other browser is signed out.", TokenRevoked: "The token is revoked.",
		SecondDropped:   "The second factor is gone, and the person is signed out. The next sign-in is with the password alone.",
		PasswordsDiffer: "is not the same as above", PasswordWrong: "is not your password", DaysWrong: "must be a whole number from 1 to 3650, or empty",
		ImportConfirmed: "The devices that the list does not name are being disabled.", ImportDeclined: "No device was disabled.",
		ImportCancelled: "The import is cancelled; what it did stays.", All: "all",
		ReplayOther:  "No new replay was begun: this one of the same selection has not ended. What failed after it was asked for does not belong to it; replay again when it is done.",
		ReplayPaused: "The replay is paused: nothing more is put back.", ReplayResumed: "The replay goes on.",
		ReplayCancelled: "The replay is cancelled. What was put back by then is sent; the rest stays in the archive.",
		NoSuchToken:     "No device has this token now.", NoSuchDevice: "No device was found under this number.", NoSuchNotice: "there is no notice of this number",
		NoSuchUser: "No device was found of a user of this name: either none ever registered, or it was erased, or what was typed differs by a letter.", ChooseFirst: "Choose at least one delivery first.",
		DigitsOnly: "A device's number has digits only.", BadTime: "must be a day and a time, such as 2027-01-31T18:00",
		ChooseDevice: "choose at least one", TooManyDevices: "choose at most 10",
		BadNotice:     "must be the number of a notice",
		SignedOut:     "You are signed out.",
		SignedOutWhat: "Nothing was done. Sign in in a new tab, then come back and press again: what you typed stays here.",
		SignIn:        "Sign in", AllMove: "every notice under way moves", RedisAnswers: "it answers", RedisSilent: "it does not answer",
		NotAskedYet: "no worker has asked it yet",
	}
}

// TooLargeText says that a list is larger than limit bytes.
func TooLargeText(limit int64) string {
	return "The file is larger than " + ui.Num(limit>>20) + " MiB, so nothing of it was stored. Split it into several files, or pack it with gzip."
}

// SaidMarked says how many unknown deliveries an operator settled as sent.
func SaidMarked(n int64) string {
	return ui.Of(n, "delivery is", "deliveries are") + " marked as sent."
}

// SaidResent says how many unknown deliveries an operator sends again.
func SaidResent(n int64) string {
	return ui.Of(n, "delivery waits", "deliveries wait") + " to be sent again."
}
