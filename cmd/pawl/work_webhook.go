package main

import (
	"os"
	"strings"

	"github.com/bravellian/pawl/sink/webhook"
)

// webhookFlags are the options of "pawl work" with --webhook.
type webhookFlags struct {
	Webhook       string `xor:"handler" placeholder:"URL" help:"Send every message to an endpoint instead, by POST."`
	SecretEnv     string `name:"secret-env" placeholder:"NAME" help:"Environment variable with the secrets to sign webhooks with, whsec_… or whsk_…, blanks between. Default: no signature."`
	WebhookFormat string `name:"webhook-format" enum:"standard,cloudevents,cloudevents-binary" default:"standard" placeholder:"FORMAT" help:"How webhooks are sent: standard, cloudevents or cloudevents-binary. Default: ${default}."`
	AllowPrivate  bool   `name:"allow-private" help:"Send webhooks to addresses that are not public, too."`
}

// endpoint is where webhooks go.
func (c *webhookFlags) endpoint() (*webhook.Endpoint, error) {
	e := &webhook.Endpoint{URL: c.Webhook}
	if c.WebhookFormat != "standard" {
		e.Format = webhook.Format(c.WebhookFormat)
	}
	if c.SecretEnv != "" {
		e.Secrets = strings.Fields(os.Getenv(c.SecretEnv))
		if len(e.Secrets) == 0 {
			return nil, usage("--secret-env: %s has no secret", c.SecretEnv)
		}
	}
	return e, nil
}

// check finds mistakes in the options that only a worker would report.
func (c *webhookFlags) check() error {
	if c.Webhook == "" {
		if c.SecretEnv != "" || c.AllowPrivate || c.WebhookFormat != "standard" {
			return usage("--secret-env, --webhook-format and --allow-private go with --webhook")
		}
		return nil
	}
	e, err := c.endpoint()
	if err != nil {
		return err
	}
	if err := (&webhook.Options{Endpoint: e}).Validate(); err != nil {
		return usage("--webhook: %w", err)
	}
	return nil
}
