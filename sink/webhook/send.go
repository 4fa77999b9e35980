package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bravellian/pawl/internal/worker"
	"github.com/bravellian/pawl/outbox"
)

// Bounds of an answer.
const (
	answerText    = 1 << 10  // bytes that become part of an error
	answerDrained = 64 << 10 // bytes that are read so that the connection can be used again
)

// Bounds of Retry-After. A policy may have no delays: the lower one keeps an endpoint from being
// asked all the time.
const (
	minRetryAfter = time.Second
	maxRetryAfter = 24 * time.Hour
)

// errGone is part of the error of a status 410.
var errGone = errors.New("the endpoint is gone")

// post sends a message and returns what becomes of it.
func (s *Sink) post(ctx context.Context, e *prepared, m *outbox.Message) error {
	at := s.now()
	header, body, err := s.render(e, m, at)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: no request can be made", e.url.Host)
	}
	request.Header = header
	answer, err := s.client.Do(request)
	if err != nil {
		return s.failure(ctx, e, err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, answerText)) // what was read until an error is good enough
	_, _ = io.CopyN(io.Discard, answer.Body, answerDrained)
	return s.outcome(e, answer, text)
}

// failure is the error of a request without an answer. That of the client has the whole URL.
func (s *Sink) failure(ctx context.Context, e *prepared, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: no answer within %v: %w", e.url.Host, s.opts.Timeout, ctx.Err())
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("%s: %w", e.url.Host, err)
}

// outcome turns a status into what becomes of a message.
func (s *Sink) outcome(e *prepared, answer *http.Response, text []byte) error {
	code := answer.StatusCode
	if code >= 200 && code < 300 {
		return nil
	}
	err := fmt.Errorf("%s: status %d %s", e.url.Host, code, http.StatusText(code))
	if said := s.said(e, text); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	if code == http.StatusGone {
		return fmt.Errorf("%w: %w", err, errGone)
	}
	wait, ok := retryAfter(answer.Header.Get("Retry-After"), s.now())
	switch {
	case !ok:
		return err
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		return worker.AskForTime(wait, err) // it says nothing of the message
	}
	return outbox.RetryAfter(wait, err)
}

// said returns the text of an answer for an error: one line, without what is secret of the
// endpoint.
func (s *Sink) said(e *prepared, text []byte) string {
	said := strings.ToValidUTF8(string(text), "")
	said = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, said)
	said = strings.Join(strings.Fields(said), " ")
	for _, secret := range e.hidden() {
		said = strings.ReplaceAll(said, secret, "…")
	}
	if s.opts.Redact != nil {
		said = s.opts.Redact(said)
	}
	return said
}

// hidden returns what of an endpoint an answer must not repeat into an error.
func (e *prepared) hidden() []string {
	all := append([]string(nil), e.Secrets...)
	for _, value := range e.Headers {
		all = append(all, value)
		if _, credentials, ok := strings.Cut(value, " "); ok {
			all = append(all, credentials) // of "Bearer …"
		}
	}
	if q := e.url.RawQuery; q != "" {
		all = append(all, q)
	}
	for _, values := range e.url.Query() {
		all = append(all, values...)
	}
	const long = 4 // a shorter one is no secret, and would take the text apart
	kept := all[:0]
	for _, text := range all {
		if len(text) >= long {
			kept = append(kept, text)
		}
	}
	return kept
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 32)
		if err != nil { // more than fits
			return maxRetryAfter, true
		}
		return min(max(time.Duration(seconds)*time.Second, minRetryAfter), maxRetryAfter), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(now), minRetryAfter), maxRetryAfter), true
}
