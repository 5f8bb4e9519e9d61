package db

// Counts are the parts of a notice's deliveries. In one snapshot Pending,
// Retrying, Sending, Sent, Failed, Skipped and Unknown add up to Total.
type Counts struct {
	Total    int64
	Pending  int64 // waits for its first charged attempt
	Retrying int64 // waits for another attempt after a charged one
	Sending  int64 // claimed
	Sent     int64 // the vendor took it
	Failed   int64 // in the archive
	Skipped  int64
	Unknown  int64 // only an operator can decide
	Twice    int64 // possibly told twice; not a part of Total
	Attempts int64 // calls begun; not a part of Total
}

// Open is how many are neither final nor unknown.
func (c Counts) Open() int64 { return c.Pending + c.Retrying + c.Sending }

const countColumns = `c.total, c.pending, c.retrying, c.sending, c.sent, c.failed, c.skipped, c.unknown, c.twice, c.attempts`

// countsOf adds up the shards of notice n.
const countsOf = `SELECT coalesce(sum(total), 0)::bigint AS total, coalesce(sum(pending), 0)::bigint AS pending,
	coalesce(sum(retrying), 0)::bigint AS retrying, coalesce(sum(sending), 0)::bigint AS sending,
	coalesce(sum(sent), 0)::bigint AS sent, coalesce(sum(failed), 0)::bigint AS failed,
	coalesce(sum(skipped), 0)::bigint AS skipped, coalesce(sum(unknown), 0)::bigint AS unknown,
	coalesce(sum(twice), 0)::bigint AS twice, coalesce(sum(attempts), 0)::bigint AS attempts
	FROM notice_counter WHERE notice_id = n.id`

// shards is how many counter rows a notice has. Each writer sticks to one, so
// with up to this many writers none waits for another's commit.
const shards = 16
