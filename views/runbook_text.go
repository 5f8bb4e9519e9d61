package views

type runbookText struct {
	Title, Intro, See, Means, Lost, Do, Over, All, Status string
}

func runbookWords() runbookText {
	return runbookText{
		Title: "Runbook",
		Intro: "What each message of Bongsu means, whether anything is lost, and what to do. The same pages are in the program, under /runbook, and can be read while the database is away.",
		See:   "What you see", Means: "What it means", Lost: "Is anything lost", Do: "What to do now", Over: "How you know that it is over",
		All: "All messages", Status: "To the Status page",
	}
}

// How the servers are reached that Bongsu runs itself, whose addresses are in no setting.
const (
	privatePostgres = "Where DATABASE_URL is unset, Bongsu runs a PostgreSQL of its own, starts it again when it ends, and writes its address into the data directory (BONGSU_DATA_DIR): psql \"$(cat .bongsu/postgres/url)\". No such file means that it does not run; the log of bongsu serve says why."
	privateRedis    = "Where REDIS_URL is unset, Bongsu runs a Redis of its own, starts it again when it ends, and writes its socket into the data directory (BONGSU_DATA_DIR): redis-cli -s \"$(sed s,unix://,, .bongsu/redis/url)\" in place of redis-cli -u. No such file means that it does not run; the log of bongsu serve says why."
)

func databaseMessages() []Message {
	return []Message{
		{
			Key: "database-down", Title: "The database does not answer",
			See:   "Pages and the API answer 503 within 10 seconds. The page says since when, and offers what was typed for sending again. Status shows the database as down and the rest as not known.",
			Means: "PostgreSQL cannot be reached, or does not answer in time. It is the record of everything, so nothing can be accepted or looked up until it is back.",
			Lost:  "No. What was accepted is stored. Calls under way end, and workers keep their results until they can be written. A submit that was answered by 503 may have been stored all the same: sending it again shows the original then, and nothing goes out twice.",
			Do: []string{
				"Ask the database from the machine Bongsu runs on: psql \"$DATABASE_URL\" -c 'select 1'. bongsu check says the same with the error.",
				privatePostgres,
				"If it refuses connections: start it, and read its log for why it stopped.",
				"If nothing answers at all: look at the network and at the firewall between the two.",
				"If it answers you but not Bongsu: compare DATABASE_URL, and whether its password has changed.",
				"Leave Bongsu running. It tries again by itself; a restart drops the results that wait to be written, and those devices may be told twice.",
			},
			Over:     "Pages answer again within 10 seconds of the database's return, Status says ok, and notices go on. Claims whose holder died meanwhile are freed one lease (10 s) later.",
			Operator: "Nothing can be accepted or looked up until it is back. What was accepted is safe, and pressing again is safe too.",
			Support:  "Nothing can be looked up until it is back. What was accepted is safe.",
			Admin:    "Nothing can be accepted or looked up until it is back. What was accepted is safe; workers keep their results. Do not restart Bongsu.",
		},
		{
			Key: "database-read-only", Title: "The database takes no writes",
			See:   "Pages can be read, but every submit, sign-in and act answers 503. Workers and the feeder soon count as gone, since they cannot write that they live.",
			Means: "The PostgreSQL that Bongsu reaches is a standby, or was set read-only. That happens after a failover, when an address still leads to the old primary.",
			Lost:  "No. Nothing new is accepted, and nothing is sent. Workers keep the results of the calls that were under way.",
			Do: []string{
				"Ask which one it is: psql \"$DATABASE_URL\" -c 'select pg_is_in_recovery()' -c 'show default_transaction_read_only'. " + privatePostgres,
				"If it is in recovery: point DATABASE_URL, or the name in it, to the new primary. A list of hosts with target_session_attrs=read-write in DATABASE_URL finds it by itself.",
				"If it was set read-only: find out who did and why (a full disk at a hosted database is a common reason) before setting it back.",
				"Bongsu opens new connections by itself once the name leads to the primary. Restart it only where DATABASE_URL itself has changed.",
			},
			Over:     "Status says that the database is ok and no longer read-only, workers are back within seconds, and a submit is accepted.",
			Operator: "You can read, but nothing can be accepted or changed, and sending waits. Nothing is lost.",
			Support:  "You can look things up. Nothing can be changed, and sending waits.",
			Admin:    "Pages can be read, nothing can be written, and sending waits. Most likely a failover left the address at the old primary.",
		},
		{
			Key: "disk-full", Title: "The disk is full, or nearly so",
			See:   "Status shows how much is left where the database keeps its data. Once nothing is left, submits and results are refused with 503 and PostgreSQL logs \"No space left on device\".",
			Means: "The database cannot grow. While little is left it is a warning; at the end PostgreSQL refuses writes or stops.",
			Lost:  "No. What was accepted is stored. What cannot be written now is refused with an answer that says so, and workers keep their results.",
			Do: []string{
				"Make room on that disk: old logs and dumps first. Never delete anything inside the database's folder, pg_wal above all.",
				"Or make the disk larger. A hosted database does so by a setting.",
				"If pg_wal is what grows, look for a replication slot that nobody reads: select slot_name, active, restart_lsn from pg_replication_slots.",
				"Pause large notices from their pages until there is room.",
			},
			Over:     "Status shows room again, and submits are accepted. If PostgreSQL had stopped, start it.",
			Operator: "If it fills up, nothing more can be accepted and sending waits. Tell whoever runs Bongsu before you send something large.",
			Support:  "If it fills up, nothing can be changed. Looking things up goes on.",
			Admin:    "If it fills up, nothing more is accepted and sending waits. Make room now.",
		},
		{
			Key: "database-connections", Title: "The database has no connection left",
			See:   "Some pages answer, others answer 503; which one it is changes. Status shows how many connections are in use of how many.",
			Means: "PostgreSQL refuses more connections than its max_connections. Each Bongsu process uses up to 26: 10 for pages and 16 for work.",
			Lost:  "No. What was refused was not done, and says so. Workers wait and try again.",
			Do: []string{
				"See who holds them: select application_name, usename, state, count(*) from pg_stat_activity group by 1, 2, 3 order by 4 desc.",
				"If it is somebody else: end those, or give that program a smaller pool.",
				"If it is Bongsu: run fewer processes, or raise max_connections to 26 for each process and some more, which needs a restart of PostgreSQL.",
				"A pooler in front (PgBouncer) must be in session mode.",
			},
			Over:     "The number on Status stays below nine tenths of the limit, and no page answers 503.",
			Operator: "Some submits may be refused. Pressing again is safe.",
			Support:  "Some pages may be refused. Try again.",
			Admin:    "Some requests are refused. Find out who holds the connections.",
		},
	}
}

func queueMessages() []Message {
	return []Message{
		{
			Key: "redis-down", Title: "The queue (Redis) does not answer",
			See:   "The badge says that sending waits for the queue, and Status says since when. Notices are accepted as fast as ever.",
			Means: "Redis carries the bells that tell workers where to look. Without it no new work reaches them.",
			Lost:  "No. Everything that has to be sent is in the database. Redis may even be emptied or brought back from an old copy: what was rung is rung again, and nobody is called twice.",
			Do: []string{
				"Ask it: redis-cli -u \"$REDIS_URL\" ping. bongsu check says the same with the error.",
				privateRedis,
				"If it refuses: start it, and read its log. After an out-of-memory kill, give the machine more memory or Redis a maxmemory.",
				"If it hangs: look for a slow disk (appendfsync) or a command that blocks it (redis-cli slowlog get).",
				"If it is gone for good: start an empty one under the same address. That loses nothing.",
				"Leave Bongsu running.",
			},
			Over:     "The badge is gone within seconds of its return and calls go out within 5 seconds.",
			Operator: "Notices are accepted as ever, but sending waits. Nothing is lost; it goes on by itself when the queue is back.",
			Support:  "Sending waits, so devices hear later. Nothing is lost.",
			Admin:    "Notices are accepted, sending waits, nothing is lost. Bring Redis back, empty if need be.",
		},
		{
			Key: "redis-full", Title: "The queue (Redis) is full",
			See:   "Status shows the queue's memory at its limit, and the error begins with OOM. Notices are accepted as fast as ever.",
			Means: "Redis has reached its maxmemory and refuses to take tasks. Bongsu needs about 20 MB of it for a million devices, so somebody else fills it, or the limit is very low.",
			Lost:  "No. What could not be rung stays due in the database. With another policy than noeviction Redis may have thrown tasks away to make room; those are rung again by themselves.",
			Do: []string{
				"See what fills it: redis-cli -u \"$REDIS_URL\" --bigkeys, and redis-cli info memory. " + privateRedis,
				"Free memory: delete what does not belong there, or give Bongsu a Redis of its own.",
				"Or raise the limit: redis-cli config set maxmemory 512mb, and in its configuration.",
				"Check the policy: redis-cli config get maxmemory-policy must say noeviction.",
			},
			Over:     "Status shows the memory below the limit, the badge is gone, and calls go out within 5 seconds.",
			Operator: "Notices are accepted as ever, but sending waits until there is room. Nothing is lost.",
			Support:  "Sending waits, so devices hear later. Nothing is lost.",
			Admin:    "Redis refuses tasks at its maxmemory. Sending waits, nothing is lost. Free memory or raise the limit.",
		},
	}
}

func workMessages() []Message {
	return []Message{
		{
			Key: "no-worker", Title: "No worker is running",
			See:   "The badge says that sending waits: no worker. Status shows when the last one was heard of. Notices are accepted.",
			Means: "No process that calls vendors has written a sign of life for 15 seconds: they stopped, crashed, hang, or cannot reach the database.",
			Lost:  "No. What is accepted waits. What a worker had begun when it died is tried again when its lease ends; each device that may have been told twice by that is counted and shown.",
			Do: []string{
				"See whether the processes live: systemctl status bongsu, docker compose ps, or kubectl get pods.",
				"Start one: bongsu serve --role worker, or --role all.",
				"If it ends again at once, the last line of its log says why: a setting, a wrong order of time limits, a missing vendor.",
				"If it lives and still counts as gone, it cannot write to the database: look for a heartbeat that was not written in its log.",
			},
			Over:     "Status lists the worker within 2 seconds of its start, and notices go on by themselves.",
			Operator: "Notices are accepted and wait until a worker is started. Nothing is lost.",
			Support:  "Devices hear later: nothing is sent until a worker is started.",
			Admin:    "Notices are accepted and wait. Start a worker: bongsu serve --role worker.",
		},
		{
			Key: "no-feeder", Title: "Nobody hands out work",
			See:   "Status shows the feeder as down while workers run. New notices stay at accepted.",
			Means: "Each process with the role worker or all can feed, and one at a time does. Its turn has ended and no other has taken it.",
			Lost:  "No. What is due stays due in the database.",
			Do: []string{
				"Wait 10 seconds: another process takes over after at most 5.",
				"If it stays: look into the workers' logs for feeding failed. Most often the database refuses their writes.",
				"Restart the workers one after another.",
			},
			Over:     "Status names the process that feeds, and accepted notices begin.",
			Operator: "Notices are accepted and begin when somebody hands out work again, within seconds as a rule.",
			Support:  "Devices may hear a little later.",
			Admin:    "Another process takes over within seconds. If this stays, read the workers' logs.",
		},
		{
			Key: "notice-stalled", Title: "A notice does not move",
			See:   "Status lists notices that are being sent and have not moved for a minute, each with a link and since when.",
			Means: "There is something to do for them and nobody does it. Mostly another line of Status says why: no worker, the queue, the vendor. If all others are well, it is a bug or a lock in the database.",
			Lost:  "No. Each of its deliveries is final or waits in the database.",
			Do: []string{
				"Mend what the other lines of Status say first; this one goes away with them.",
				"If there is no other line: look at Queues for archived tasks, which have met a bug. Their error is the reason; run them again from there.",
				"Look for locks: select pid, state, wait_event_type, now() - xact_start as age, left(query, 80) from pg_stat_activity where datname = current_database() order by age desc nulls last.",
				"Pause the notice and resume it: its ranges are rung again under new numbers.",
				"Restart the workers one after another. Nobody is called twice by that.",
			},
			Over:     "Its page counts on, and Status does not list it any more.",
			Operator: "These notices wait. Nothing is lost; sending them again would only make another notice.",
			Support:  "Devices of these notices hear later.",
			Admin:    "There is work that nobody does. Look at the other lines first, then at the archived tasks in Queues.",
		},
		{
			Key: "backlog-old", Title: "Work has been due for long",
			See:   "Status shows how much waits and since when the oldest of it is due.",
			Means: "More is due than is being done: the vendor is slow or asks us to wait, a rate is set, too few calls may be under way, or no worker runs.",
			Lost:  "No. It waits. A notice whose time runs out ends as expired for those that were not reached, and says so.",
			Do: []string{
				"Look at the other lines of Status: the vendor, the workers, the queue.",
				"If the workers' call slots are all in use: the vendor's answers take long. More workers, or a larger BONGSU_MAX_IN_FLIGHT, make more calls at once, if the vendor takes them.",
				"If they are not: BONGSU_RATE holds them back, or the database is slow.",
				"Look at when the open notices expire, and tell their authors where it gets tight.",
			},
			Over:     "The age on Status goes down and stays below a minute.",
			Operator: "What you send now comes after what waits. Look at when your notices expire.",
			Support:  "Devices hear later than usual.",
			Admin:    "Deliveries have been due for a while. Look at the vendor and the workers.",
		},
	}
}

func answerMessages() []Message {
	return []Message{
		{
			Key: "answer-unsure", Title: "It is not certain whether it was done",
			See:   "A page says that nothing certain can be said about a request, or that no answer came in 15 seconds.",
			Means: "The time for the answer ran out while the work may have gone on, or the connection broke.",
			Lost:  "No. A notice is either stored as a whole or not at all, and the log has a line for each that was stored after its reader had left.",
			Do: []string{
				"Press again. If it was done already, the original is shown and nothing is done twice. Only a test send is made anew each time.",
				"If it happens again: look at Status. The database is the first thing to look at.",
				"Whoever runs Bongsu finds the request in the log by the id that the page shows.",
			},
			Over:     "An answer comes: accepted, or the original.",
			Operator: "Press again: it is safe.", Support: "Try again.", Admin: "Look at the database.",
		},
		{
			Key: "not-our-answer", Title: "Something in between answered",
			See:   "The banner says that something between you and Bongsu answered instead of it, with a status such as 502 or 504, or you see an error page that is not Bongsu's.",
			Means: "A proxy or balancer did not reach Bongsu, or was not patient enough. Bongsu answers every request within 10 seconds, also while the database is away.",
			Lost:  "No. It is not known whether the request was done; pressing again is safe.",
			Do: []string{
				"Press again.",
				"502 or 503 from the proxy: no Bongsu process is reachable. See whether they run, and ask one for /healthz past the proxy.",
				"504 from the proxy: its limit is shorter than Bongsu's. Set it to 12 seconds and tell Bongsu by BONGSU_PROXY_TIMEOUT, as docs/proxy.md says.",
				"If the balancer took all processes out: let it ask /readyz, which stays 200 while the database is away.",
			},
			Over:     "Answers are Bongsu's own again.",
			Operator: "Press again: it is safe.", Support: "Try again.", Admin: "Look at the proxy and at whether a Bongsu process runs.",
		},
	}
}
