-- message(m)
{m}.id, {m}.message_id, {m}.topic, {m}.correlation_id, {m}.headers, {m}.payload, {m}.created_at, {m}.due_at
