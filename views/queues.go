package views

// Queues is what asynq holds in Redis. The ledger is the record; this is for
// looking under the bonnet.
type Queues struct {
	Shell
	Down  string // why nothing can be shown; empty: it can
	Items []QueueRow
}

// QueueRow is one queue.
type QueueRow struct {
	Name                                        string
	Pending, Active, Scheduled, Retry, Archived int64
	OldestSeconds                               int64 // how long the oldest pending task waits
}

// Queue lists the tasks of one queue in one state.
type Queue struct {
	Shell
	Name, State         string
	Down                string
	Tabs                []Tab
	Items               []TaskRow
	FirstHref, NextHref string
}

// TaskRow is one task.
type TaskRow struct {
	ID, Kind, Payload, LastError, NextAt, FailedAt string
	Retried, MaxRetry                              int64
	CanRun, CanDelete                              bool
}

type queuesText struct {
	Title, Intro, Caption, Queue, Pending, Active, Scheduled, Retry, Archived, Oldest, Empty, EmptyHint, Down string
	Tasks, Task, Kind, Payload, Error, Retried, Next, Acts, Run, Delete, NoTask, NoTaskHint, ByState, Back    string
	DeleteHint                                                                                                string
}

func queuesWords() queuesText {
	return queuesText{
		Title: "Queues", Intro: "Tasks in Redis, as asynq keeps them. What has to be sent is recorded in the database: a lost or deleted task is rung again.",
		Caption: "All queues", Queue: "Queue", Pending: "Pending", Active: "Active", Scheduled: "Scheduled", Retry: "Retry", Archived: "Archived",
		Oldest: "Oldest waits", Empty: "There is no queue yet.", EmptyHint: "Queues appear when the first notice is sent.",
		Down:  "The queue does not answer, so its tasks cannot be shown. Nothing is lost: the database keeps what has to be sent.",
		Tasks: "Tasks", Task: "Task", Kind: "Kind", Payload: "Payload", Error: "Last error", Retried: "Tries", Next: "Next at", Acts: "Acts",
		Run: "Run now", Delete: "Delete", NoTask: "There is none.", NoTaskHint: "No task of this queue is in this state.", ByState: "By state", Back: "All queues",
		DeleteHint: "Archived tasks are for bugs: a task that panicked or could not be read. Deleting one loses no delivery.",
	}
}

func (q QueueRow) href(state string) string { return "/queues/" + q.Name + "?state=" + state }
