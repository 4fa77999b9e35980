/** The worker's loop: claim, handle, extend leases, settle, wait. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import pg from "pg";
import { Fail, Message, quoted, Retry } from "./message.js";

export type Handler = (m: Message) => unknown;
export type BatchHandler = (ms: Message[]) => unknown;

export interface WorkerOptions {
  /** A handler for each topic, which may return a promise. A message without a handler is given back. */
  handlers?: Record<string, Handler>;
  /** In place of handlers: each gets a list of messages, which succeeds or fails as a whole. */
  batchHandlers?: Record<string, BatchHandler>;
  queue?: string;
  /** How many messages are held at most, by default 50, up to 1000. */
  batch?: number;
  /** How many handlers run at once, by default 10. */
  concurrency?: number;
  /** Seconds after which the messages of a dead process are claimed again, by default 30; a living one extends it. */
  lease?: number;
  /** Seconds between claims while the queue is empty, by default 1; a notification comes sooner. */
  poll?: number;
  /** After how many attempts a message has failed, by default 10; 0: never. */
  maxAttempts?: number;
  name?: string;
  schema?: string;
  log?: (text: string) => void;
}

interface Held extends Message {
  readonly abort: AbortController;
}

interface Ended {
  readonly m: Held;
  readonly act: "ack" | "fail" | "release";
  readonly error?: unknown;
}

/** Handles the messages of one queue; run does so until stop is called. */
export class Worker {
  readonly #o: Required<Omit<WorkerOptions, "handlers" | "batchHandlers">>;
  readonly #handlers: Map<string, BatchHandler>;
  readonly #batches: boolean;
  readonly #schema: string;
  readonly #config: string | pg.ClientConfig;
  #client: pg.Client | undefined;
  #armed = false; // the session has the queue's lock: see outbox_listen
  #refused = 0; // how often in a row it did not get that for an open transaction
  #notified = false;
  readonly #held = new Map<string, { until: number; messages: Map<string, Held> }>(); // by token of the claim
  #todo: Held[][] = []; // no handler began
  #ended: Ended[] = []; // to be settled
  #running = 0;
  #beatAt = 0;
  #drainAt = 0;
  #stopping = false;
  #deadline = 0;
  #wake: (() => void) | undefined;

  /** config: a connection string or a configuration of pg, of sessions that no pooler shares among transactions. */
  constructor(config: string | pg.ClientConfig, o: WorkerOptions) {
    this.#config = config;
    this.#o = {
      queue: "default", concurrency: 10, lease: 30, poll: 1, maxAttempts: 10, name: `${hostname()}/${process.pid}`, schema: "pawl",
      log: text => console.error(`pawl: ${text}`), ...o, batch: Math.min(o.batch ?? 50, 1000),
    };
    this.#batches = o.batchHandlers !== undefined;
    this.#handlers = new Map(Object.entries(o.batchHandlers ?? {}));
    for (const [topic, h] of Object.entries(o.handlers ?? {})) this.#handlers.set(topic, ms => h(ms[0]!));
    this.#schema = quoted(this.#o.schema);
  }

  /** Has run return: it claims no more, gives back what no handler began, and waits so many seconds for handlers that run. */
  stop(grace = 30): void {
    this.#deadline = now() + grace;
    this.#stopping = true;
    this.#wake?.();
  }

  /** Works until stop is called. After an error of the database it connects again. */
  async run(): Promise<void> {
    for (let delay = 0.25; !(this.#stopping && (this.#count() === 0 || now() > this.#deadline));) {
      try {
        await this.#step();
        delay = 0.25;
      } catch (e) {
        this.#o.log(`database: ${brief(e)}; connecting again`);
        await this.#close();
        this.#expire();
        await this.#wait(between(0.5, 1) * delay);
        delay = Math.min(2 * delay, 30);
      }
    }
    await this.#close();
  }

  async #step(): Promise<void> {
    await this.#open();
    if (this.#stopping) await this.#release();
    await this.#settle();
    this.#expire();
    if (now() >= this.#beatAt) await this.#extend();
    const room = this.#stopping ? 0 : this.#room();
    if (room === 0) return this.#wait(this.#stopping ? 0.1 : this.#o.poll);
    if (await this.#claim(room)) return;
    let seconds = this.#o.poll * between(0.8, 1.2);
    if (!this.#armed) {
      const listening: boolean | null = await this.#call("outbox_listen($1)", this.#o.queue);
      this.#armed = listening === true;
      if (this.#armed && await this.#claim(room)) return; // what was enqueued before
      this.#refused = listening === null ? this.#refused + 1 : 0;
      // transactions that enqueue are open, and will notify nobody
      if (this.#refused > 0) seconds = Math.min(seconds, 0.001 * 2 ** Math.min(this.#refused, 10));
    }
    await this.#wait(seconds);
  }

  async #open(): Promise<void> {
    if (this.#client) return;
    const client = new pg.Client(this.#config);
    client.on("notification", () => { this.#notified = true; this.#wake?.(); });
    client.on("error", () => this.#wake?.()); // the next statement fails
    await client.connect();
    this.#client = client;
  }

  /** How many messages may be claimed now: half a batch at least, so that claims stay few. What came
   * back from dead processes is claimed by who holds nothing: once a lease's length. */
  #room(): number {
    const held = this.#count();
    if (held > 0 && now() > this.#drainAt) return 0;
    return 2 * held <= this.#o.batch ? this.#o.batch - held : 0;
  }

  async #claim(room: number): Promise<boolean> {
    const token = randomUUID(), alone = this.#held.size === 0, until = now() + this.#o.lease;
    if (alone) this.#drainAt = until;
    const { rows } = await this.#client!.query(
      `SELECT c.* FROM ${this.#schema}.outbox_claim($1, $2, $3, queue => $4, suspects => $5) c`, [token, this.#o.lease, room, this.#o.queue, alone]);
    if (rows.length === 0) return false;
    const messages = rows.map((r): Held => {
      const abort = new AbortController();
      return {
        id: r.id, messageId: r.message_id, topic: r.topic, payload: r.payload, correlationId: r.correlation_id,
        headers: r.headers ? JSON.parse(r.headers) : {}, createdAt: r.created_at, retryCount: r.retry_count, token, abort, signal: abort.signal,
      };
    });
    this.#held.set(token, { until, messages: new Map(messages.map(m => [m.id, m])) });
    this.#beatAt = Math.min(this.#beatAt, until - this.#o.lease * 2 / 3);
    const topics = new Map<string, Held[]>();
    for (const m of messages) {
      if (!this.#handlers.has(m.topic)) {
        this.#ended.push({ m, act: "release" });
      } else if (this.#o.maxAttempts > 0 && m.retryCount >= this.#o.maxAttempts) {
        this.#ended.push({ m, act: "fail", error: new Fail(`lease expired; gave up after ${m.retryCount} attempts, the last of which did not end`) });
      } else if (this.#batches) {
        topics.set(m.topic, [...topics.get(m.topic) ?? [], m]);
      } else {
        this.#todo.push([m]);
      }
    }
    this.#todo.push(...topics.values());
    this.#start();
    if (this.#armed) {
      this.#armed = false;
      await this.#call("outbox_unlisten($1)", this.#o.queue);
    }
    return true;
  }

  #start(): void {
    while (this.#running < this.#o.concurrency && this.#todo.length > 0 && !this.#stopping) {
      this.#running++;
      void this.#handle(this.#todo.shift()!);
    }
  }

  async #handle(messages: Held[]): Promise<void> {
    let end: { act: "ack" } | { act: "fail"; error: unknown } = { act: "ack" };
    try {
      await this.#handlers.get(messages[0]!.topic)!(messages);
    } catch (error) {
      end = { act: "fail", error };
    }
    this.#running--;
    for (const m of messages) if (!m.signal.aborted) this.#ended.push({ m, ...end });
    this.#start();
    this.#wake?.();
  }

  /** Settles what ended. What fails stays in the list, to be tried on the next connection: never is a
   * handler called again because its message could not be settled. */
  async #settle(): Promise<void> {
    const ended = this.#ended, groups = new Map<string, Ended[]>();
    this.#ended = [];
    for (const e of ended) {
      const key = e.act === "fail" ? e.m.id : e.m.token + e.act, group = groups.get(key);
      if (group) group.push(e); else groups.set(key, [e]);
    }
    for (const [key, group] of groups) {
      const { m, act } = group[0]!, ids = group.map(e => e.m.id);
      try {
        if (act === "release") this.#o.log(`no handler for topic ${m.topic}`);
        const n = act === "fail" ? await this.#fail(group[0]!)
          : act === "release" ? await this.#call("outbox_release($1, $2, '30 seconds')", m.token, ids)
          : await this.#call("outbox_ack($1, $2, $3)", m.token, ids, this.#o.name);
        if (Number(n) < ids.length) this.#o.log(`${n} of ${ids.length} messages were settled: their leases were lost`);
      } catch (e) {
        this.#ended.push(...[...groups.values()].flat());
        throw e;
      }
      this.#forget(m.token, ids);
      groups.delete(key);
    }
  }

  #fail({ m, error }: Ended): Promise<string> {
    const text = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).replaceAll("\0", "");
    if (error instanceof Fail || this.#o.maxAttempts > 0 && m.retryCount + 1 >= this.#o.maxAttempts) {
      this.#o.log(`message ${m.messageId} of topic ${m.topic} has failed after ${m.retryCount + 1} attempts`);
      return this.#call("outbox_fail($1, $2, $3)", m.token, [m.id], text);
    }
    const delay = error instanceof Retry ? Math.max(0, error.delay) : Math.min(60, 2 ** Math.min(m.retryCount, 6)) * between(0.9, 1.1);
    return this.#call("outbox_abandon($1, $2, $3, make_interval(secs => $4))", m.token, [m.id], text, delay);
  }

  async #extend(): Promise<void> {
    this.#beatAt = now() + this.#o.lease / 3;
    for (const [token, claim] of [...this.#held]) {
      const until = now() + this.#o.lease, ids = [...claim.messages.keys()];
      const extend = async (ids: string[]) => Number(await this.#call("outbox_extend($1, $2, $3)", token, ids, this.#o.lease));
      if (await extend(ids) < ids.length) {
        for (const id of ids) if (await extend([id]) === 0) this.#lose(token, [id]);
      }
      claim.until = until;
    }
  }

  #expire(): void {
    for (const [token, { until, messages }] of [...this.#held]) if (now() > until) this.#lose(token, [...messages.keys()]);
  }

  /** Another worker may have these messages: their handlers are told, their outcome is dropped. */
  #lose(token: string, ids: string[]): void {
    this.#o.log(`the leases of ${ids.length} messages were lost`);
    const lost = ids.map(id => this.#held.get(token)!.messages.get(id)!);
    this.#forget(token, ids);
    for (const m of lost) m.abort.abort();
    this.#ended = this.#ended.filter(e => !e.m.signal.aborted);
    this.#todo = this.#todo.map(ms => ms.filter(m => !m.signal.aborted)).filter(ms => ms.length > 0);
  }

  #forget(token: string, ids: string[]): void {
    const messages = this.#held.get(token)?.messages;
    for (const id of ids) messages?.delete(id);
    if (messages?.size === 0) this.#held.delete(token);
  }

  async #release(): Promise<void> {
    for (let ms; (ms = this.#todo[0]); this.#todo.shift()) {
      for (const m of ms) {
        await this.#call("outbox_release($1, $2)", m.token, [m.id]);
        this.#forget(m.token, [m.id]);
      }
    }
  }

  #count(): number {
    let n = 0;
    for (const { messages } of this.#held.values()) n += messages.size;
    return n;
  }

  /** Waits for a handler that ends, stop, a notification, or the next heartbeat. */
  async #wait(seconds: number): Promise<void> {
    if (this.#ended.length === 0 && !this.#notified || !this.#client) {
      if (this.#held.size > 0) seconds = Math.max(0, Math.min(seconds, this.#beatAt - now()));
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, seconds * 1000);
        this.#wake = () => { clearTimeout(timer); resolve(); };
      });
    }
    this.#wake = undefined;
    this.#notified = false;
  }

  async #call(call: string, ...args: unknown[]): Promise<any> {
    const { rows } = await this.#client!.query({ text: `SELECT ${this.#schema}.${call}`, values: args, rowMode: "array" });
    return rows[0]![0];
  }

  async #close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#armed = false;
    await client?.end().catch(() => undefined);
  }
}

function now(): number {
  return performance.now() / 1000;
}

function between(lo: number, hi: number): number {
  return lo + Math.random() * (hi - lo);
}

/** An error's class and code without its text, which may have what was sent. */
function brief(e: unknown): string {
  return e instanceof Error ? `${e.name} ${(e as { code?: string }).code ?? ""}`.trim() : "unknown";
}
