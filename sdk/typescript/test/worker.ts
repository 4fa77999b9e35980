/**
 * A worker that the tests kill: worker.js JOURNAL MODE. It notes in the journal what it handles.
 *
 * MODE: "produce" enqueues meanwhile, "work" does not, "poison" dies of every message, "slow" takes half
 * a second for each, one at a time, "fail" fails each, "long" takes six seconds or until the lease is lost,
 * "batch" handles lists and fails those with a message "bad", once. "batches" and "singles" measure: they do nothing
 * with batches of a thousand messages, or with each of them. "sleep" polls only every ten minutes.
 */
import { openSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { enqueue, Fail, type Message, Retry, Worker } from "../src/pawl.js";

const url = process.env["DATABASE_URL"]!, journal = openSync(process.argv[2]!, "a"), mode = process.argv[3]!;

function note(...words: string[]): void {
  writeSync(journal, words.join(" ") + "\n");
}

function handleBatch(ms: Message[]): void {
  note("batch", "typescript", String(ms.length));
  if (ms.some(m => m.payload === "bad" && m.retryCount === 0)) throw new Retry("one is bad", 0);
}

const nothing = { work: () => undefined }, measured = { queue: "sdk", batch: 1000, concurrency: 2 };
const worker = mode === "batches" ? new Worker(url, { batchHandlers: nothing, ...measured }) : mode === "singles" ? new Worker(url, { handlers: nothing, ...measured }) : mode === "batch" ? new Worker(url, { batchHandlers: { work: handleBatch }, queue: "sdk", batch: 20 }) : new Worker(url, {
  handlers: {
    work: async m => {
      note("begin", "typescript", m.payload);
      if (mode === "poison") process.kill(process.pid, "SIGKILL");
      if (mode === "fail") throw m.retryCount === 0 ? new Retry("again", 0) : new Fail("for good");
      if (mode === "long") {
        await sleep(6000, undefined, { signal: m.signal }).catch(() => undefined);
        return note(m.signal.aborted ? "lost" : "end", "typescript", m.payload);
      }
      await sleep(mode === "slow" ? 500 : 10);
      note("end", "typescript", m.payload);
    },
  },
  queue: "sdk", batch: 20, concurrency: mode === "slow" ? 1 : 4, lease: mode === "produce" || mode === "work" ? 10 : 4, poll: mode === "sleep" ? 600 : 0.5, maxAttempts: mode === "poison" || mode === "fail" ? 2 : 10, name: "typescript",
});

async function produce(): Promise<never> {
  const client = new pg.Client(url);
  await client.connect();
  for (let n = 0; ; n++) {
    const keyed = [0, 1, 2].map(k => `typescript-${process.pid}-${k} ${n}`), plain = [0, 1, 2].map(k => `- typescript-${process.pid}-${n}-${k}`);
    await client.query("BEGIN");
    for (const payload of keyed) await enqueue(client, "work", payload, { queue: "sdk", orderingKey: payload.split(" ")[0] });
    for (const payload of plain) await enqueue(client, "work", payload, { queue: "sdk" });
    if (n % 5 === 4) {
      await enqueue(client, "work", "- rolled-back", { queue: "sdk" });
      await client.query("ROLLBACK");
      continue;
    }
    await client.query("COMMIT");
    note("put", "typescript", ...[...keyed, ...plain].map(p => p.replace(" ", "/")));
    await sleep(50);
  }
}

process.on("SIGTERM", () => worker.stop());
if (mode === "produce") void produce();
note("start", "typescript", String(process.pid));
await worker.run();
note("stop", "typescript", String(process.pid));
process.exit(0);
