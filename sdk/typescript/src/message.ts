/** Messages: enqueue them, and what a handler gets. */

/** Thrown by a handler for what no retry helps: the message has failed at once. */
export class Fail extends Error {
  override name = "Fail";
}

/** Thrown by a handler to be called again after so many seconds, in place of the backoff. */
export class Retry extends Error {
  override name = "Retry";
  constructor(message: string, readonly delay: number) {
    super(message);
  }
}

/** A claimed message. */
export interface Message {
  /** The position by which routines know it: a bigint, as a text. */
  readonly id: string;
  readonly messageId: string;
  readonly topic: string;
  /** A text; JSON.parse(payload) if it is JSON. */
  readonly payload: string;
  readonly correlationId: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly createdAt: Date;
  /** How many attempts have failed. */
  readonly retryCount: number;
  /** The token of its claim, for routines that take one. */
  readonly token: string;
  /** Aborted when the lease is lost: another worker may have the message, and this handler's outcome is dropped. */
  readonly signal: AbortSignal;
}

/** What enqueue needs of a Client, PoolClient or Pool of pg. */
export interface Queryable {
  query(sql: string, args: unknown[]): Promise<{ rows: any[] }>;
}

export interface EnqueueOptions {
  queue?: string;
  /** When it is due, by default now. */
  due?: Date;
  /** From -100 to 100. */
  priority?: number;
  headers?: Record<string, string>;
  orderingKey?: string;
  /** A UUID. One that is stored already adds nothing. */
  messageId?: string;
  correlationId?: string;
  schema?: string;
}

/**
 * Stores a message in the transaction of client, and returns its id.
 * payload: a string as it is, anything else as JSON. What is refused rejects with the code 22023 or 22004.
 */
export async function enqueue(client: Queryable, topic: string, payload: unknown, o: EnqueueOptions = {}): Promise<string> {
  const headers = o.orderingKey === undefined ? o.headers : { ...o.headers, "pawl-ordering-key": o.orderingKey };
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const { rows } = await client.query(
    `SELECT ${quoted(o.schema)}.outbox_enqueue($1::text, $2::text, correlation_id => $3, due_time_utc => $4, message_id => $5, headers => $6::jsonb, queue => $7, priority => $8) AS id`,
    [topic, text, o.correlationId ?? null, o.due ?? null, o.messageId ?? null, headers ? JSON.stringify(headers) : null, o.queue ?? "default", o.priority ?? 0]);
  return rows[0].id;
}

/** Returns the name of a schema as SQL has it. */
export function quoted(schema = "pawl"): string {
  return `"${schema.replaceAll('"', '""')}"`;
}
