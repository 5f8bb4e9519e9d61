package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"bongsu/views"
)

// queueStates are the states in which a queue's tasks can be listed.
var queueStates = []string{"pending", "active", "scheduled", "retry", "archived"}

// queuesPage shows what the queues hold. A queue that cannot be asked is a note
// on the page, not a failure of it.
func queuesPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	var m views.Queues
	list, err := s.queueList(r)
	if err != nil {
		m.Down = err.Error()
	}
	for _, q := range list {
		m.Items = append(m.Items, views.QueueRow{
			Name: q.Name, Pending: int64(q.Pending), Active: int64(q.Active), Scheduled: int64(q.Scheduled),
			Retry: int64(q.Retry), Archived: int64(q.Archived), OldestSeconds: int64(q.Latency.Seconds()),
		})
	}
	if m.Shell, err = s.shell(r, "queues"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.QueuesPage(m))
}

var errNoInspector = errors.New("the queues cannot be seen from this process")

func (s *Server) queueList(r *http.Request) ([]Queue, error) {
	if s.queues == nil {
		return nil, errNoInspector
	}
	return within(r.Context(), s.limits.Queue, s.queues.Queues)
}

// queuePage lists the tasks of one queue in one state.
func queuePage(s *Server, w http.ResponseWriter, r *http.Request) error {
	name, state := r.PathValue("queue"), r.FormValue("state")
	if state == "" {
		state = "pending"
	}
	list, err := s.queueList(r)
	i := slices.IndexFunc(list, func(q Queue) bool { return q.Name == name })
	if err == nil && i < 0 || !slices.Contains(queueStates, state) {
		return errNoRoute
	}
	m := views.Queue{Name: name, State: state}
	if err != nil {
		m.Down = err.Error()
	} else {
		m.Tabs = queueTabs(list[i], state)
		s.addTasks(r, &m)
	}
	if m.Shell, err = s.shell(r, "queues"); err != nil {
		return err
	}
	return render(w, r, http.StatusOK, views.QueuePage(m))
}

func queueTabs(q Queue, on string) []views.Tab {
	counts := map[string]int{"pending": q.Pending, "active": q.Active, "scheduled": q.Scheduled, "retry": q.Retry, "archived": q.Archived}
	var tabs []views.Tab
	for _, state := range queueStates {
		tabs = append(tabs, views.Tab{Href: queueHref(q.Name, state, 1), Label: state, N: int64(counts[state]), On: state == on})
	}
	return tabs
}

// addTasks puts one page of tasks into m. The queue counts pages by number.
func (s *Server) addTasks(r *http.Request, m *views.Queue) {
	page, err := strconv.Atoi(r.FormValue("page"))
	if err != nil || page < 1 {
		page = 1
	}
	tasks, err := within(r.Context(), s.limits.Queue, func(ctx context.Context) ([]Task, error) {
		return s.queues.Tasks(ctx, m.Name, m.State, page, pageSize)
	})
	if err != nil {
		m.Down = err.Error()
		return
	}
	for _, t := range tasks {
		m.Items = append(m.Items, views.TaskRow{
			ID: t.ID, Kind: t.Type, Payload: t.Payload, LastError: t.LastError, NextAt: stamp(t.NextAt), FailedAt: stamp(t.LastFailedAt),
			Retried: int64(t.Retried), MaxRetry: int64(t.MaxRetry),
			CanRun: m.State != "active" && m.State != "pending", CanDelete: m.State != "active",
		})
	}
	if page > 1 {
		m.FirstHref = queueHref(m.Name, m.State, 1)
	}
	if len(tasks) == pageSize {
		m.NextHref = queueHref(m.Name, m.State, page+1)
	}
}

// actOnTask runs or deletes one task.
func actOnTask(s *Server, w http.ResponseWriter, r *http.Request) error {
	if s.queues == nil {
		return errNoInspector
	}
	name, task := r.PathValue("queue"), r.PostFormValue("task")
	var err error
	done := views.Said().TaskRuns
	switch r.PostFormValue("act") {
	case "run":
		err = s.queues.RunTask(r.Context(), name, task)
	case "delete":
		done = views.Said().TaskDeleted
		err = s.queues.DeleteTask(r.Context(), name, task)
	default:
		return errNoRoute
	}
	if err != nil {
		return err
	}
	return s.doneThen(w, r, done, queueHref(name, r.PostFormValue("state"), 1))
}

func queueHref(name, state string, page int) string {
	q := url.Values{"state": {state}}
	if page > 1 {
		q.Set("page", strconv.Itoa(page))
	}
	return "/queues/" + url.PathEscape(name) + "?" + q.Encode()
}
