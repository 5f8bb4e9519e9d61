// Package childproc keeps server programs as children of this process: it
// starts them so that they die with it, locks their directory, finds what an
// earlier process left running there, and finds a socket path that fits.
//
// It knows nothing of PostgreSQL or Redis, and nothing of the product. Linux
// only: it relies on parent-death signals and on /proc.
package childproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A Command says what to start.
type Command struct {
	Path string   // the program
	Args []string // its arguments, without the program's name
	Dir  string   // its working directory
	Env  []string // its whole environment
	Log  *os.File // where its output goes

	// Credential is the user to run as; nil means this process's own.
	Credential *syscall.Credential
	// DeathSignal reaches the child when this process dies in any way.
	DeathSignal syscall.Signal
}

// A Process is a child that was started.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // valid after done is closed
}

// Start starts c in a process group of its own, so that a Ctrl-C at the
// terminal does not reach it before this process stops it in order.
func Start(c Command) (*Process, error) {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	cmd.Stdout, cmd.Stderr = c.Log, c.Log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:    true,
		Pdeathsig:  c.DeathSignal,
		Credential: c.Credential,
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.live(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	return p, nil
}

// live starts the child and waits for its end on one thread. The kernel sends
// the death signal when the thread that forked the child ends, so that thread
// must live as long as the child: it stays locked to this goroutine.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

// Run starts c and waits for its end. When ctx ends first the child is killed.
func Run(ctx context.Context, c Command) error {
	p, err := Start(c)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
		return p.err
	case <-ctx.Done():
		p.Signal(syscall.SIGKILL)
		<-p.Done()
		return ctx.Err()
	}
}

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err tells how the child ended, as exec.Cmd.Wait does: nil where it left with
// 0. It waits for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Pid is the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends sig to the child. One that has ended is left alone.
func (p *Process) Signal(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig)
}

// A Step is one way to ask a child to end, and how long to wait for it.
type Step struct {
	Signal syscall.Signal
	Wait   time.Duration
}

// Stop takes the steps in turn until the child has ended; when ctx ends it
// goes to the next step at once. After the last one it kills the child and
// returns an error, since what the child had not yet written may be lost.
func (p *Process) Stop(ctx context.Context, steps ...Step) error {
	for _, s := range steps {
		p.Signal(s.Signal)
		if p.waitFor(ctx, s.Wait) {
			return nil
		}
	}
	p.Signal(syscall.SIGKILL)
	<-p.done
	return fmt.Errorf("process %d had to be killed", p.Pid())
}

// waitFor reports whether the child has ended within d. A ctx that ended
// shortens the wait to a second, so that each step keeps a chance.
func (p *Process) waitFor(ctx context.Context, d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-p.done:
		return true
	case <-limit.C:
		return false
	case <-ctx.Done():
	}
	select {
	case <-p.done:
		return true
	case <-time.After(min(d, time.Second)):
		return false
	}
}

// ErrEnded says that a child ended while its start was awaited.
var ErrEnded = errors.New("the program ended at once")

// Await calls ready every 20 ms until it returns nil. It fails with ErrEnded
// when the child ends first, and with ready's last error when ctx ends first.
func (p *Process) Await(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return ErrEnded
		case <-ctx.Done():
			return fmt.Errorf("not ready in time: %w", err)
		case <-tick.C:
		}
	}
}
