package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/urfave/cli/v3"
)

// benchProductCommand is serve for the benchmark alone: it also writes CPU
// profiles when it is told to over a socket.
func (a *app) benchProductCommand() *cli.Command {
	return &cli.Command{
		Name: "product", Hidden: true,
		Usage: "what bench --profile runs: serve, with CPU profiles on demand",
		Flags: []cli.Flag{&cli.StringFlag{Name: "control", Required: true, Usage: "the socket on which profiles are started and stopped"}},
		Action: func(ctx context.Context, cmd *cli.Command) (err error) {
			l, err := net.Listen("unix", cmd.String("control"))
			if err != nil {
				return err
			}
			control := &http.Server{Handler: profileControls()}
			done := make(chan error, 1)
			go func() { done <- control.Serve(l) }()
			defer func() {
				err = errors.Join(err, control.Close())
				<-done //nolint:errcheck // always http.ErrServerClosed
			}()
			return a.serve(ctx, roleAll)
		},
	}
}

// profileControls starts a CPU profile into a file, and ends it.
func profileControls() http.Handler {
	var file *os.File // requests come one after another
	mux := http.NewServeMux()
	mux.HandleFunc("POST /start", func(w http.ResponseWriter, r *http.Request) {
		f, err := os.Create(r.FormValue("file"))
		if err == nil {
			file, err = f, pprof.StartCPUProfile(f)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		pprof.StopCPUProfile()
		if err := file.Close(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux
}

// A benchProfile asks the product for profiles. The zero one asks for none.
type benchProfile struct {
	dir, socket string
	client      *http.Client
}

func newBenchProfile(dir, socket string) (p benchProfile, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return benchProfile{dir, socket, &http.Client{Transport: &http.Transport{DialContext: dial}}}, os.MkdirAll(dir, 0o755)
}

// during profiles the product while f runs, into DIR/NAME.pprof.
func (p benchProfile) during(ctx context.Context, name string, f func() error) error {
	if p.client == nil {
		return f()
	}
	file := url.QueryEscape(filepath.Join(p.dir, name+".pprof"))
	if err := p.post(ctx, "/start?file="+file); err != nil {
		return err
	}
	return errors.Join(f(), p.post(ctx, "/stop"))
}

func (p benchProfile) post(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, "POST", "http://product"+path, nil)
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("profile: the product answered %s", resp.Status)
	}
	return nil
}
