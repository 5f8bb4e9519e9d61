// Command faults runs every test that docs/faults.md names, in all packages, and
// prints what came of each fault as a table:
//
//	go run ./db/dbtest/testpg -- go run ./db/dbtest/faults [--long] [TEST…]
//
// With names of tests it runs those alone; with --long the faults last as long as
// they are described. It ends as the tests ended.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	long := flag.Bool("long", false, "faults as long as they are described, and 100 random schedules")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, err := run(ctx, *long, flag.Args(), os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}
