package views

// Deliveries is the list of a notice's deliveries, all or of one status.
type Deliveries struct {
	Shell
	NoticeID, NoticeTitle string
	Status                string // empty: all
	Tabs                  []Tab
	Items                 []DeliveryRow
	FirstHref, NextHref   string
	CanDecide             bool // unknown ones: resend or mark as sent
	CanDevices            bool // link to the device's page
}

// Tab leads to a part of a list.
type Tab struct {
	Href, Label string
	N           int64
	On          bool
}

// DeliveryRow is one delivery in a list.
type DeliveryRow struct {
	NoticeID, NoticeTitle, DeviceID string
	Status, Reason, Code, Message   string
	Attempts                        int64
	Generation                      int64
	At                              string // when it last changed
	DueAt                           string // when it is tried next; empty: it is not
	Twice                           bool
}

type deliveriesText struct {
	Title, Of, Caption, All, Device, Status, Why, Attempts, At, Due, Empty, EmptyHint string
	Choose, ChooseAll, ResendN, MarkN, Resend, Mark, DecideHint, Twice, Tabs, Retried string
}

func deliveriesWords() deliveriesText {
	return deliveriesText{
		Title: "Deliveries", Of: "of", Caption: "One line for each device", All: "all", Device: "Device", Status: "Status", Why: "Why",
		Attempts: "Calls", At: "Last change", Due: "next try", Empty: "There is none.", EmptyHint: "No delivery of this notice is in this state now.",
		Choose: "Choose", ChooseAll: "Choose all on this page", ResendN: "Resend the {n} chosen", MarkN: "Mark the {n} chosen as sent",
		Resend: "Resend the chosen", Mark: "Mark the chosen as sent",
		DecideHint: "Each of these was called and no answer came, so the person may have been told. Resend calls again and may tell twice; Mark as sent closes it.",
		Twice:      "possibly told twice", Tabs: "By status", Retried: "replayed",
	}
}
