-- includes(headers, some)
pawl.outbox_headers({headers}) @> pawl.outbox_headers({some})
