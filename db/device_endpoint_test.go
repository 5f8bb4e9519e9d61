package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
)

func TestEndpointsAreAskedOncePerHost(t *testing.T) {
	var asked []string
	checks := NewEndpointChecks(func(_ context.Context, e string) error {
		asked = append(asked, EndpointHost(e))
		switch host := EndpointHost(e); {
		case strings.HasPrefix(host, "inside."):
			return fmt.Errorf("%s is at a private address", e)
		case strings.HasPrefix(host, "lost."):
			return &net.DNSError{Err: "no answer", Name: host, IsTimeout: true}
		}
		return nil
	})
	for i := range 300 {
		in := subscribed(t, fmt.Sprintf("https://%s.example.com/%d", []string{"good", "inside", "lost"}[i%3], i))
		fault, unsure, err := checks.Check(t.Context(), in)
		switch {
		case err != nil:
			t.Fatal(err)
		case i%3 == 0 && (fault != nil || unsure):
			t.Fatalf("a good host: %v, %v", fault, unsure)
		case i%3 == 1 && (fault == nil || unsure || fault.Field != "token" || !strings.Contains(fault.Message, "private address")):
			t.Fatalf("a private host: %v, %v", fault, unsure)
		case i%3 == 1 && strings.Contains(fault.Message, "/"):
			t.Fatalf("more than the host is told: %s", fault.Message)
		case i%3 == 2 && (fault == nil || !unsure):
			t.Fatalf("a host that nobody knows: %v, %v", fault, unsure)
		}
	}
	if len(asked) != 3 {
		t.Errorf("asked %d times: %v", len(asked), asked)
	}
}

func TestOnlyEndpointsOfWebPushAreAsked(t *testing.T) {
	checks := NewEndpointChecks(func(context.Context, string) error { return errors.New("no") })
	bad := subscribed(t, "http://push.example.com/x")
	for name, in := range map[string]DeviceInput{
		"left out": {Token: endpoint, Platform: "web"}, "http": {Token: endpoint, Platform: "web", Vendor: new("http")}, "no endpoint": bad,
	} {
		if fault, _, err := checks.Check(t.Context(), in); fault != nil || err != nil {
			t.Errorf("%s: %v, %v", name, fault, err)
		}
	}
	if fault, _, _ := checks.Check(t.Context(), subscribed(t, endpoint)); fault == nil {
		t.Error("an endpoint of Web Push was not asked about")
	}
	if fault, _, _ := NewEndpointChecks(nil).Check(t.Context(), subscribed(t, endpoint)); fault != nil {
		t.Errorf("without a rule: %v", fault)
	}
}

// An answer that came after its time says nothing of the host.
func TestEndpointCheckThatRanOutOfTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cut := true
	checks := NewEndpointChecks(func(ctx context.Context, _ string) error {
		if cut {
			cancel()
		}
		return ctx.Err()
	})
	in := subscribed(t, endpoint)
	if fault, _, err := checks.Check(ctx, in); fault != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", fault, err)
	}
	cut = false
	if fault, _, err := checks.Check(t.Context(), in); fault != nil || err != nil {
		t.Errorf("asked again: %v, %v", fault, err)
	}
}

func TestAnswersAboutHostsAreBounded(t *testing.T) {
	checks := NewEndpointChecks(func(context.Context, string) error { return nil })
	in := subscribed(t, endpoint)
	for i := range maxHosts + 5 {
		in.Token = fmt.Sprintf("https://h%d.example.com/", i)
		if fault, _, err := checks.Check(t.Context(), in); fault != nil || err != nil {
			t.Fatal(fault, err)
		}
		if len(checks.said) > maxHosts {
			t.Fatalf("%d answers are kept", len(checks.said))
		}
	}
}
