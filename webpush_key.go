package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	"bongsu/db"
	pushweb "bongsu/jobs/push/webpush"
)

func (a *app) webPushKeyCommand() *cli.Command {
	return &cli.Command{
		Name:  "webpush-key",
		Usage: "makes the private key that Web Push is signed with, and prints the public one for your site",
		Description: "The private key goes into the file, which must not exist yet; name it in BONGSU_WEBPUSH_KEY_FILE.\n" +
			"Subscriptions belong to one key: with another one every browser has to subscribe again.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "out", Usage: "the file for the private key", Required: true}},
		Action: func(_ context.Context, cmd *cli.Command) error {
			return a.makeWebPushKey(cmd.String("out"))
		},
	}
}

// makeWebPushKey never writes over a file.
func (a *app) makeWebPushKey(path string) error {
	text, public, err := pushweb.NewKey()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already; name another file, or remove it if no browser has subscribed with it", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, public)
	return err
}

// endpointRule gives the rule for endpoints that may be registered.
func endpointRule(c Config) (db.EndpointRule, error) {
	rule, err := pushweb.Rule(c.WebPush.hosts(), c.WebPush.Private)
	if err != nil {
		return nil, fmt.Errorf("BONGSU_WEBPUSH_HOSTS: %w", err)
	}
	return func(ctx context.Context, endpoint string) error {
		ctx, cancel := context.WithTimeout(ctx, endpointLook)
		defer cancel()
		err := rule(ctx, endpoint)
		if refused := new(pushweb.EndpointError); errors.As(err, &refused) {
			return errors.New(refused.Words)
		}
		return err
	}, nil
}
