package db

import (
	"context"
	"errors"
	"strings"
)

// EndpointRule says whether an endpoint of Web Push may be called: nil, or an error
// whose text tells the person who registers it why not. It judges by the host alone
// and bounds its own time. An error that says of itself that it is temporary, as
// those of a name server do, means that nobody knows now.
type EndpointRule func(ctx context.Context, endpoint string) error

// EndpointChecks asks a rule once for each host, for one request or one list, and
// keeps the answers. It is for one goroutine.
type EndpointChecks struct {
	rule EndpointRule
	said map[string]hostWord
}

// hostWord is what a rule said of a host.
type hostWord struct {
	why    string // "": its endpoints may be called
	unsure bool
}

// maxHosts bounds the answers that are kept: a list may name any number of hosts.
const maxHosts = 10_000

// NewEndpointChecks asks rule; where that is nil, every endpoint may be called.
func NewEndpointChecks(rule EndpointRule) *EndpointChecks {
	return &EndpointChecks{rule, map[string]hostWord{}}
}

// Check says what is wrong with the token of an input, nil: nothing that the rule
// knows. unsure means that nobody could tell now, and that the same may be taken
// later. Once ctx is over it is the error of that, and nothing is said of the input.
func (c *EndpointChecks) Check(ctx context.Context, in DeviceInput) (fault *FieldError, unsure bool, err error) {
	if c.rule == nil || textOr(in.Vendor) != KindWebPush || endpointFault(in.Token) != "" {
		return nil, false, nil
	}
	host := EndpointHost(in.Token)
	word, known := c.said[host]
	if !known {
		word = wordOf(c.rule(ctx, in.Token), in.Token, host)
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		if len(c.said) == maxHosts {
			clear(c.said)
		}
		c.said[strings.Clone(host)] = word // the row that it was cut from is not kept
	}
	if word.why == "" {
		return nil, false, nil
	}
	return &FieldError{"token", word.why}, word.unsure, nil
}

// wordOf keeps of an endpoint no more than its host.
func wordOf(err error, endpoint, host string) hostWord {
	switch {
	case err == nil:
		return hostWord{}
	case temporary(err):
		return hostWord{"is at a host that could not be looked up now: give it again later", true}
	default:
		return hostWord{"is an endpoint that is not called: " + strings.ReplaceAll(err.Error(), endpoint, host), false}
	}
}

func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}
