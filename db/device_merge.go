package db

import (
	"crypto/sha256"
	"slices"
)

// deviceState is a device while a list of inputs is laid over what is stored.
type deviceState struct {
	id    int64 // 0: it is new
	token *string
	hash  [sha256.Size]byte // means nothing where token is nil
	place
	platform     string
	person       *string
	tags         []string
	consent      bool
	installation *string

	named    bool // an input was about it: it is registered now
	replaced bool // another device took its token
	detach   bool // it lets a stored token or installation go, which another may take
	disabled bool // as stored, and not since another took its token
	keep     bool // it stays disabled as it is

	was *deviceState // as stored; nil: it is new
	off bool         // as stored it was disabled, whatever the reason
}

func (d *deviceState) changed() bool { return d.named || d.replaced }

// deviceSet is the devices that a list of inputs can be about.
type deviceSet struct {
	all            []*deviceState
	byToken        map[[sha256.Size]byte]*deviceState
	byInstallation map[string]*deviceState
}

func newDeviceSet(stored []*deviceState) *deviceSet {
	s := &deviceSet{
		all:            stored,
		byToken:        make(map[[sha256.Size]byte]*deviceState, len(stored)),
		byInstallation: make(map[string]*deviceState),
	}
	for _, d := range stored {
		if d.token != nil {
			s.byToken[d.hash] = d
		}
		if d.installation != nil {
			s.byInstallation[*d.installation] = d
		}
	}
	return s
}

// put lays one input over the set and gives the device that it was about, or what
// is wrong with its address, and then nothing has changed. The installation names
// the device, or else the token does, or else it is new.
//
// A token that another device held goes to the device of the installation: it is
// the same phone under two names, so whoever said no on either has said no,
// unless the input itself says yes. The other fields stay each device's own.
func (s *deviceSet) put(in DeviceInput) (*deviceState, []FieldError) {
	hash := tokenHash(in.Token)
	holder := s.byToken[hash]
	var d *deviceState
	if in.Installation != nil {
		d = s.byInstallation[*in.Installation]
	}
	to, bad := in.place(d, holder)
	if bad != nil {
		return nil, bad
	}
	switch {
	case d == nil && holder == nil:
		d = &deviceState{consent: true}
		s.all = append(s.all, d)
	case d == nil:
		d = holder
	case holder != nil && holder != d:
		d.consent = d.consent && holder.consent
		holder.token, holder.p256dh, holder.auth = nil, nil, nil
		holder.replaced, holder.detach = true, true
	}
	s.address(d, in.Token, hash, to)
	s.install(d, in.Installation)
	d.fill(in)
	return d, nil
}

// address gives d its token and where that is one.
func (s *deviceSet) address(d *deviceState, token string, hash [sha256.Size]byte, to place) {
	if d.token != nil && d.hash != hash {
		delete(s.byToken, d.hash)
		d.detach = true
	}
	d.token, d.hash, d.place = &token, hash, to
	s.byToken[hash] = d
}

// install gives d its installation, where an input names one.
func (s *deviceSet) install(d *deviceState, installation *string) {
	if installation == nil {
		return
	}
	if d.installation != nil && *d.installation != *installation {
		delete(s.byInstallation, *d.installation)
		d.detach = true
	}
	d.installation = installation
	s.byInstallation[*installation] = d
}

// fill takes over what an input says of d, and enables it.
func (d *deviceState) fill(in DeviceInput) {
	d.named, d.replaced = true, false
	d.platform = in.Platform
	if in.User != nil {
		d.person = in.User
		if *in.User == "" {
			d.person = nil
		}
	}
	if in.Tags != nil {
		d.tags = *in.Tags
	}
	if in.Consent != nil {
		d.consent = *in.Consent
	}
}

// split gives the changed devices that are stored already, by id, and the new
// ones in the order of the inputs, which their ids follow.
func (s *deviceSet) split() (old, fresh []*deviceState) {
	for _, d := range s.all {
		switch {
		case d.id == 0:
			fresh = append(fresh, d)
		case d.changed():
			old = append(old, d)
		}
	}
	slices.SortFunc(old, func(a, b *deviceState) int { return int(a.id - b.id) })
	return old, fresh
}
