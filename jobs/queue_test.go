package jobs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"bongsu/db"
	"bongsu/jobs/push/pushsim"
)

// A payload that nobody can read is set aside with its reason, the worker lives,
// and a person can look at it, run it and delete it.
func TestPoisonPayloadIsSetAside(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(100, good)
	h.process(nil)
	client := asynq.NewClientFromRedisClient(h.redisClient())
	_, err := client.EnqueueContext(t.Context(), asynq.NewTask(typeRange, []byte("not json")), asynq.Queue(queuePush), asynq.TaskID("poison"))
	h.no(err)
	i := NewInspector(h.redisClient())
	h.eventually(20*time.Second, "set aside", func() bool { return len(archived(h, i)) == 1 })
	task := archived(h, i)[0]
	if task.ID != "poison" || !strings.Contains(task.LastError, "payload") {
		t.Errorf("set aside: %+v", task)
	}
	n := h.accept("after the poison")
	h.finished(n.ID, time.Minute)
	h.allOnce(n.ID, 100)

	h.no(i.RunTask(t.Context(), queuePush, "poison"))
	h.eventually(20*time.Second, "set aside again", func() bool { return len(archived(h, i)) == 1 })
	h.no(i.DeleteTask(t.Context(), queuePush, "poison"))
	if err := i.DeleteTask(t.Context(), queuePush, "poison"); !errors.Is(err, ErrTaskGone) {
		t.Errorf("deleted twice: %v", err)
	}
	if left := archived(h, i); len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}

func archived(h *house, i *Inspector) []TaskInfo {
	h.t.Helper()
	list, err := i.Tasks(h.t.Context(), queuePush, "archived", 1, 10)
	h.no(err)
	return list
}

// Each task run again, and again under its old number, calls nobody twice.
func TestTasksRunAgain(t *testing.T) {
	h := newHouse(t, pushsim.Config{})
	h.devices(700, good)
	w, f, _ := h.process(nil)
	n := h.accept("again")
	h.finished(n.ID, time.Minute)
	test, err := h.db.CreateTestSend(t.Context(), "t", "b", "", []int64{1, 2, 3}, by)
	h.no(err)
	h.eventually(20*time.Second, "sent", func() bool {
		return one[int](h, `SELECT count(*) FROM test_send_device WHERE status = 'sent'`) == 3
	})
	calls := h.sim.Counts().Calls
	f.Stop()
	for range 2 {
		if _, err := w.rangeTask(context.Background(), rangePayload{Notice: n.ID, Seq: 1, Ring: 1}); !errors.Is(err, db.ErrStale) {
			t.Errorf("the range task: %v", err)
		}
		if made, err := w.retryTask(context.Background(), retryPayload{Notice: n.ID, Ring: 1}); err != nil || made != 0 {
			t.Errorf("the retry task made %d calls: %v", made, err)
		}
		if made, err := w.testTask(context.Background(), testPayload{ID: test.ID, Ring: 1}); err != nil || made != 0 {
			t.Errorf("the test task made %d calls: %v", made, err)
		}
	}
	if got := h.sim.Counts().Calls; got != calls {
		t.Errorf("%d calls, want %d", got, calls)
	}
}
