package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"bongsu/db/dbtest"
	"bongsu/jobs/push/pushsim"
)

// command runs a command as main does, and returns what it printed.
func command(t *testing.T, environ []string, stdin string, args ...string) (stdout string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	err = run(ctx, append([]string{"bongsu"}, args...), environ, strings.NewReader(stdin), &out, t.Output())
	return out.String(), err
}

// wantError fails unless err says want.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v; want it to say %q", err, want)
	}
}

// TestCommandsBesideServe walks through what an operator does on one machine:
// serve with private servers, and every small command beside it.
func TestCommandsBesideServe(t *testing.T) {
	sim, err := pushsim.Start(pushsim.Config{Token: "vendor-token"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	dir, err := dbtest.MkdirData("bongsu-commands-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{
		"PATH=" + os.Getenv("PATH"), "BONGSU_DATA_DIR=" + dir, "BONGSU_ADDR=" + addr,
		"BONGSU_VENDOR_URL=" + sim.URL(), "BONGSU_VENDOR_TOKEN=vendor-token",
	}
	stop := startServe(t, environ, addr)

	out, err := command(t, environ, "correct horse battery\n", "user", "add", "--email", "kim@example.com", "--role", "admin")
	if err != nil || out != "added kim@example.com as admin\n" {
		t.Errorf("user add: %q, %v", out, err)
	}
	_, err = command(t, environ, "correct horse battery\n", "user", "add", "--email", "Kim@Example.com", "--role", "admin")
	wantError(t, err, "an account for Kim@Example.com already")
	_, err = command(t, environ, "correct horse battery\n", "user", "add", "--email", "kim", "--role", "chief")
	wantError(t, err, "--email must be")
	wantError(t, err, "--role must be")
	_, err = command(t, environ, "eleven char\n", "user", "add", "--email", "lee@example.com", "--role", "admin")
	wantError(t, err, "has 11 characters; it must have from 12")

	token, err := command(t, environ, "", "token", "add", "--name", "ci", "--role", "operator")
	if err != nil || strings.Count(token, "\n") != 1 || strings.Contains(strings.TrimSpace(token), " ") {
		t.Fatalf("token add printed %q, %v; want the token alone", token, err)
	}
	wantRows(t, environ, []string{"user", "list"}, "EMAIL ROLE STATE SECOND FACTOR LAST SEEN", "kim@example.com admin active no never")
	wantRows(t, environ, []string{"token", "list"}, "NUMBER NAME ROLE STATE ENDS LAST USED", "1 ci operator active never never")

	out, err = command(t, environ, "", "migrate")
	if err != nil || !strings.Contains(out, "already") {
		t.Errorf("migrate: %q, %v", out, err)
	}
	out, err = command(t, environ, "", "check")
	if err != nil || strings.Contains(out, "vendor-token") || strings.Count(out, ": yes") != 3 {
		t.Errorf("check: %v\n%s", err, out)
	}
	_, err = command(t, environ, "", "serve")
	wantError(t, err, dir+" is in use by process")

	sendOne(t, addr, strings.TrimSpace(token))
	if n := sim.Delivered("ok-1", 1); n != 1 {
		t.Errorf("the vendor took %d messages, want 1", n)
	}
	if err := stop(); err != nil {
		t.Errorf("serve ended with %v after it was asked to stop", err)
	}
	if _, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		t.Error("it still listens")
	}
	// Without serve a command starts the private database itself, and stops it.
	out, err = command(t, environ, "", "migrate")
	if err != nil || !strings.Contains(out, "already") {
		t.Errorf("migrate after serve: %q, %v", out, err)
	}
	out, err = command(t, environ, "", "check")
	if err != nil || strings.Count(out, "private, not running") != 2 {
		t.Errorf("check after serve: %v\n%s", err, out)
	}
}

// wantRows fails unless a command prints these lines, whatever stands between columns.
func wantRows(t *testing.T, environ []string, args []string, rows ...string) {
	t.Helper()
	out, err := command(t, environ, "", args...)
	var got []string
	for line := range strings.Lines(out) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	if err != nil || !slices.Equal(got, rows) {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestListsOfPeopleAndTokens holds what is printed of each state.
func TestListsOfPeopleAndTokens(t *testing.T) {
	pool := dbtest.New(t)
	environ := []string{"PATH=" + os.Getenv("PATH"), "DATABASE_URL=" + pool.Config().ConnString(), "REDIS_URL=redis://127.0.0.1:1/0"}
	_, err := pool.Exec(t.Context(), `
		INSERT INTO app_user (id, email, role, password_hash, disabled_at, totp_secret, totp_since) OVERRIDING SYSTEM VALUE VALUES
			(9001, 'ann@example.com', 'admin', 'x', NULL, 'S', now()), (9002, 'bob@example.com', 'operator', '', NULL, NULL, NULL),
			(9003, 'cho@example.com', 'support', 'x', now(), NULL, NULL), (9004, 'dan@example.com', 'operator', 'x', NULL, NULL, NULL);
		INSERT INTO web_session (token_hash, data, user_id, expires_at, seen_at) VALUES ('a', '', 9001, now() + interval '1 hour', '2026-12-01T10:30:59Z');
		INSERT INTO audit (at, actor, actor_name, role, act, object) VALUES
			('2026-12-01T10:00Z', 'user:9001', 'ann@example.com', 'admin', 'signin', 'user:9001'),
			('2026-11-01T09:00Z', 'user:9004', 'dan@example.com', 'operator', 'signin', 'user:9004'), ('2026-11-01T09:05Z', 'user:9004', 'dan@example.com', 'operator', 'notice.accept', 'notice:1');
		INSERT INTO app_user (email, role, password_hash) SELECT 'z' || to_char(i, 'FM0000') || '@example.com', 'support', 'x' FROM generate_series(1, 1001) i;
		INSERT INTO api_token (name, role, token_hash, expires_at, revoked_at, last_used_at) VALUES
			('billing', 'operator', 'a', NULL, NULL, '2026-12-01T10:30Z'), ('old', 'admin', 'b', '2020-01-01', NULL, NULL), ('gone', 'support', 'c', '2040-01-01', now(), NULL)`)
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{"EMAIL ROLE STATE SECOND FACTOR LAST SEEN", "ann@example.com admin active yes 2026-12-01 10:30", "bob@example.com operator invited no never",
		"cho@example.com support disabled no never", "dan@example.com operator active no 2026-11-01 09:05"}
	for i := range 1001 { // more than one page of the list
		rows = append(rows, fmt.Sprintf("z%04d@example.com support active no never", i+1))
	}
	wantRows(t, environ, []string{"user", "list"}, rows...)
	wantRows(t, environ, []string{"token", "list"}, "NUMBER NAME ROLE STATE ENDS LAST USED", "3 gone support revoked 2040-01-01 00:00 never",
		"2 old admin ended 2020-01-01 00:00 never", "1 billing operator active never 2026-12-01 10:30")
}

// startServe runs serve until the returned function ends it, and returns when
// it takes connections.
func startServe(t *testing.T, environ []string, addr string) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"bongsu", "serve"}, environ, strings.NewReader(""), io.Discard, t.Output())
	}()
	t.Cleanup(cancel)
	deadline := time.Now().Add(2 * time.Minute)
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("serve ended: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("serve does not listen")
		}
	}
	// It listens only when it is ready.
	if status := apiGet(t, "http://"+addr+"/readyz", "", nil); status != http.StatusOK {
		t.Errorf("the first /readyz is %d, want 200", status)
	}
	return func() error {
		cancel()
		return <-ended
	}
}

// sendOne registers a device and sends it a notice through the API, and
// returns when the notice is finished.
func sendOne(t *testing.T, addr, token string) {
	t.Helper()
	api := "http://" + addr + "/api/v1"
	apiSend(t, http.MethodPut, api+"/devices", token, `{"token":"ok-1","platform":"ios"}`, http.StatusOK)
	apiSend(t, http.MethodPost, api+"/notices", token, `{"title":"hello","body":"there"}`, http.StatusAccepted)
	deadline := time.Now().Add(30 * time.Second)
	for {
		var n struct{ State string }
		apiGet(t, api+"/notices/1", token, &n)
		if n.State == "finished" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the notice is %q after 30 s", n.State)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func apiSend(t *testing.T, method, url, token, body string, want int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != want {
		answer, _ := io.ReadAll(res.Body)
		t.Fatalf("%s %s: %d %s, want %d", method, url, res.StatusCode, answer, want)
	}
}

func apiGet(t *testing.T, url, token string, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if into != nil {
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return res.StatusCode
}

func TestCommandsThatCannotWork(t *testing.T) {
	for _, x := range []struct {
		args, environ []string
		want          string
	}{
		{[]string{"sevre"}, nil, `there is no command "sevre"`},
		{[]string{"serve", "--role", "boss"}, nil, `--role is "boss", not one of: all, web, worker`},
		{[]string{"serve"}, nil, "BONGSU_VENDOR_URL is not set, and no other vendor is"},
		{[]string{"serve"}, []string{"BONGSU_LEASE=5s"}, "lease (5s) must be longer than vendor call + recording (8s)"},
		{[]string{"migrate"}, []string{"BONGSU_RAET=1"}, "did you mean BONGSU_RATE?"},
		{[]string{"token", "add", "--name", "x"}, nil, `Required flag "role" not set`},
		{[]string{"user", "add", "--email", "a@b", "--role", "admin"}, nil, "no password came on standard input"},
		{[]string{"vendor", "--transient", "2"}, nil, "not between 0 and 1"},
		{[]string{"migrate"}, []string{"DATABASE_URL=postgres://u:hunter2@127.0.0.1:1/x"}, "refused"},
		{[]string{"check"}, []string{"BONGSU_DATA_DIR=/nowhere", "BONGSU_VENDOR_URL=http://127.0.0.1:1/"}, "vendor: dial"},
		{[]string{"check"}, []string{"BONGSU_VENDOR_TIMEOUT=1h"}, "lower BONGSU_VENDOR_TIMEOUT"},
	} {
		t.Run(strings.Join(x.args, " "), func(t *testing.T) {
			out, err := command(t, x.environ, "", x.args...)
			wantError(t, err, x.want)
			if x.args[0] != "check" && out != "" {
				t.Errorf("it printed %q to standard output", out)
			}
			if strings.Contains(fmt.Sprint(out, err), "hunter2") {
				t.Errorf("it shows the password: %v", err)
			}
		})
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	out, err := command(t, nil, "", "-h")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"demo", "serve", "migrate", "user", "token", "vendor", "check"} {
		if !strings.Contains(out, "\n   "+name+" ") {
			t.Errorf("the help does not name %s", name)
		}
		if text, err := command(t, nil, "", name, "-h"); err != nil || !strings.Contains(text, "USAGE") {
			t.Errorf("%s -h: %q, %v", name, text, err)
		}
	}
}

// The program itself, with the exit codes that scripts see.
func TestProgramExitCodes(t *testing.T) {
	program := t.TempDir() + "/bongsu"
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program, "sevre").CombinedOutput()
	exit := new(exec.ExitError)
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasPrefix(string(out), "bongsu: there is no command") {
		t.Errorf("an unknown command ended with %v and said %q", err, out)
	}
	vendor := exec.CommandContext(t.Context(), program, "vendor", "--addr", "127.0.0.1:0")
	stdout, err := vendor.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := vendor.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 7)
	if _, err := io.ReadFull(stdout, line); err != nil || string(line) != "http://" {
		t.Fatalf("vendor said %q, %v", line, err)
	}
	if err := vendor.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := vendor.Wait(); err != nil {
		t.Errorf("vendor ended with %v after Ctrl-C, want 0", err)
	}
}
