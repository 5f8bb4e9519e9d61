package views

func vendorMessages() []Message {
	return []Message{
		{
			Key: "vendor-credentials", Title: "The vendor refuses our credentials",
			See:   "Calls are paused, admins see a banner on every page with the vendor's words, and nothing is charged.",
			Means: "The vendor answered 401, a redirect, or 403 for five devices in a row: it is not about the devices but about us. The token or key has expired, was changed or withdrawn, or the address is wrong. Other vendors go on meanwhile. Where the banner says that settings are missing, there are devices at a vendor that this installation is not set up for.",
			Lost:  "No. What waits is not charged for it, and no device was disabled.",
			Do: []string{
				"Read on Status which vendor it is, and its words.",
				"The HTTP vendor: check BONGSU_VENDOR_URL and BONGSU_VENDOR_TOKEN (bongsu check shows which are in force, the token masked), and try them: curl -i -H \"Authorization: Bearer …\" the address.",
				"FCM: make a new key of the service account in Firebase's console (Project settings, Service accounts). Web Push: the key has to be the one that browsers subscribed with.",
				"Put the right token or key into the file that BONGSU_VENDOR_TOKEN_FILE, BONGSU_FCM_KEY_FILE or BONGSU_WEBPUSH_KEY_FILE names: it is read again within seconds, tried with one delivery, and sending goes on by itself.",
				"Where it is set without a file, or the address was wrong: set the right one, restart the workers, and let calls go on (the button in the banner).",
			},
			Over:     "The vendor is ok on Status, and the waiting notices go on at once. If the credentials are still wrong it is paused again after the first calls.",
			Operator: "Calls are paused until an admin mends our settings. What waits is neither lost nor charged.",
			Support:  "Calls are paused, so devices hear later. Nothing is lost.",
			Admin:    "Calls to it are paused. Put the right token or key into its file: it is tried by itself. Without a file set it anew, restart the workers, then let calls go on (the button in the banner).",
		},
		{
			Key: "vendor-refusals", Title: "The vendor refuses most devices for good",
			See:   "Calls are paused, and admins are asked. Status shows how many of the last calls were refused and the vendor's last words.",
			Means: "More than half of the last 1,000 first attempts were refused permanently. That is more likely a wrong setting of ours (the wrong project, a wrong kind of message) than every device.",
			Lost:  "No. Those refused are in the archive, and can be replayed when the cause is mended. The rest waits.",
			Do: []string{
				"Open the archive, choose the reason, and read the vendor's words.",
				"If one code is behind all of it: look it up at the vendor. Most often the address or the token belongs to another project.",
				"Mend the setting, restart the workers, let calls go on (the button in the banner), then replay what was refused from the archive.",
				"If the devices really are gone (an old list was imported), press The refusals are right: the notices there are now go on to their end and are not asked about again.",
			},
			Over:     "The vendor is ok on Status and the share of refusals has gone down.",
			Operator: "Calls are paused until an admin has looked. What waits is neither lost nor charged.",
			Support:  "Calls are paused, so devices hear later.",
			Admin:    "Calls are paused, and you are asked: look at the reasons in the archive, mend the setting, or say that the devices are gone.",
		},
		{
			Key: "vendor-outage", Title: "The vendor is out of order",
			See:   "The badge says that sending waits for the vendor. Status shows since when and the time of the next try.",
			Means: "Nearly all of the last calls failed, and many deliveries wait. Calls are stopped, but for one every 2 seconds that finds out whether the vendor is back.",
			Lost:  "No. What waits is not charged for it, so no delivery uses up its retries. Only a notice's own expiry goes on.",
			Do: []string{
				"Look at the vendor's own status page. There is nothing to do on our side if it is out of order.",
				"If the vendor says that it is well: look at the network between the two (bongsu check), at its address and at a proxy on the way.",
				"An admin may press Try now to have the next try at once.",
				"Look at when the open notices expire; pause what must not go out late.",
			},
			Over:     "The first try that is answered ends it: full speed within 3 seconds.",
			Operator: "Sending waits and goes on by itself when the vendor is back. Nothing is lost or charged.",
			Support:  "Devices hear later; what waits is not lost.",
			Admin:    "Calls are stopped but for one every 2 seconds. It goes on by itself; Try now has the next one at once.",
		},
		{
			Key: "vendor-waits", Title: "The vendor asked us to wait",
			See:   "Status shows until when, and deliveries wait with the reason that the vendor asked us to wait.",
			Means: "The vendor answered 429, with or without a time: we are faster than it allows.",
			Lost:  "No, and nothing is charged.",
			Do: []string{
				"Nothing, as a rule: it goes on by itself at the time shown.",
				"If it happens often: set BONGSU_RATE below the vendor's limit, and restart the workers.",
			},
			Over:     "The time has passed, and calls are answered again.",
			Operator: "Some deliveries wait until the time shown. Nothing is lost or charged.",
			Support:  "Some devices hear a little later.",
			Admin:    "Nothing to do as a rule. If it happens often, set BONGSU_RATE.",
		},
		{
			Key: "devices-kept", Title: "Devices that the vendor calls gone are kept",
			See:   "Admins are asked in a banner about devices that were answered by 410. Sending goes on.",
			Means: "More than a fifth of the last 1,000 first attempts were answered by 410, which usually disables a device. So many at once are more likely a mistake, so none is disabled until an admin agrees.",
			Lost:  "No. These deliveries failed and are in the archive; the devices stay as they are.",
			Do: []string{
				"Look at the vendor's words in the archive, and at whether our settings changed lately.",
				"If an old list was imported, they are gone: press The refusals are right in the banner. From then on a 410 disables its device again, also those that were kept, at their next notice.",
				"If not: keep them, mend the cause, and replay from the archive.",
			},
			Over:     "Somebody has decided, and the question is gone from Status.",
			Operator: "Sending goes on. An admin decides about devices that the vendor calls gone.",
			Support:  "Devices that the vendor calls gone stay enabled until an admin decides.",
			Admin:    "Decide whether the devices that were answered by 410 are gone.",
		},
	}
}
