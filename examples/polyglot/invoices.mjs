// Writes invoices: claims messages, and writes each invoice and the ack of its message in one
// transaction, so that an invoice is written once, however often its message is delivered.
//
// Needs pg (npm install), and PAWL_DB, the URL of the database.
import { randomUUID } from "node:crypto";
import pg from "pg";

const lease = 30; // seconds: after a crash of this process its messages come back
const attempts = 10;

// write writes the invoice of an order.
async function write(db, order) {
  if (order.cents > 4000) throw new Error(`no credit for ${order.cents}`);
  await db.query("INSERT INTO invoices (number, cents) VALUES ($1, $2)", [order.number, order.cents]);
  console.log(`invoice ${order.number}: ${order.cents}`);
}

// handle works on a message and settles it: done, again later, or failed for good.
async function handle(db, owner, message) {
  try {
    await db.query("BEGIN");
    await write(db, JSON.parse(message.payload));
    const acked = await db.query("SELECT pawl.outbox_ack($1, ARRAY[$2::bigint], 'invoices.mjs') AS n", [owner, message.id]);
    if (Number(acked.rows[0].n) !== 1) throw new Error("the lease is lost: somebody else has the message now");
    await db.query("COMMIT");
  } catch (error) {
    await db.query("ROLLBACK");
    const settle = message.retry_count + 1 < attempts ? "outbox_abandon" : "outbox_fail";
    await db.query(`SELECT pawl.${settle}($1, ARRAY[$2::bigint], error => $3)`, [owner, message.id, error.message]);
    console.log(`not now: ${error.message}`);
  }
}

const db = new pg.Client(process.env.PAWL_DB);
await db.connect();
await db.query("CREATE TABLE IF NOT EXISTS invoices (number int PRIMARY KEY, cents int)");
for (;;) {
  const owner = randomUUID(); // a fresh one for each claim
  const claimed = await db.query("SELECT id, payload, retry_count FROM pawl.outbox_claim($1, $2, 10, 'invoices') ORDER BY id", [owner, lease]);
  if (claimed.rows.length === 0) break; // a service would wait a while, or LISTEN
  for (const message of claimed.rows) await handle(db, owner, message);
}
await db.end();
