// A shop as an MCP server over stdio: its stock and its payments live in SQLite. Whoever calls a tool again with the same
// idempotency key gets the first answer again, and nothing is reserved or charged twice.
import { createHash, randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod/v4";

const database = openDatabase(process.env.SHOP_DATABASE || ":memory:");

serveStdio(() => {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const id = z.string();
  const lines = z.array(z.object({ sku: z.string(), quantity: z.number().int().positive() }));

  server.registerTool(
    "get_stock",
    {
      description: "How many pieces of an article are left.",
      inputSchema: z.object({ sku: z.string() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ sku }) => attempt(() => articleOf(sku)),
  );
  server.registerTool(
    "reserve_stock",
    {
      description: "Takes articles out of the stock for an order.",
      inputSchema: z.object({ items: lines }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ items }, context) => attempt(() => once(context, "reserve", (key) => reserve(key, items))),
  );
  server.registerTool(
    "release_stock",
    {
      description: "Puts reserved articles back.",
      inputSchema: z.object({ reservationId: id }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ reservationId }, context) => attempt(() => once(context, "release", () => release(reservationId))),
  );
  server.registerTool(
    "charge_card",
    {
      description: "Charges a card. 0002 is declined.",
      inputSchema: z.object({ card: z.string(), amountCents: z.number().int().nonnegative() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ card, amountCents }, context) => attempt(() => once(context, "charge", (key) => charge(key, card, amountCents))),
  );
  return server;
});

function openDatabase(path) {
  const opened = new DatabaseSync(path);
  opened.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS articles (sku TEXT PRIMARY KEY, title TEXT, cents INTEGER, stock INTEGER);
    CREATE TABLE IF NOT EXISTS lines (reservation TEXT, sku TEXT, quantity INTEGER);
    CREATE TABLE IF NOT EXISTS payments (id TEXT PRIMARY KEY, card TEXT, cents INTEGER);
    CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT);
    INSERT OR IGNORE INTO articles VALUES ('PEN-BLUE', 'Blue pen', 250, 100), ('INK-50', 'Ink, 50 ml', 900, 20),
      ('DESK-OAK', 'Oak desk', 49900, 1);
  `);
  return opened;
}

/** Everything or nothing, and the answer is kept under the caller's key. */
function once(context, what, work) {
  const given = context?.mcpReq?._meta?.["pawl/idempotency-key"];
  const key = `${what} ${given ?? randomUUID()}`;
  const kept = database.prepare("SELECT answer FROM answers WHERE key = ?").get(key);
  if (kept !== undefined) return JSON.parse(kept.answer);
  database.exec("BEGIN IMMEDIATE");
  try {
    const answer = work(createHash("sha256").update(key).digest("hex").slice(0, 12));
    database.prepare("INSERT INTO answers VALUES (?, ?)").run(key, JSON.stringify(answer));
    database.exec("COMMIT");
    return answer;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function articleOf(sku) {
  const article = database.prepare("SELECT * FROM articles WHERE sku = ?").get(sku);
  if (article === undefined) throw new Error(`There is no article "${sku}".`);
  return { ...article };
}

function reserve(key, items) {
  const reservationId = `order-${key}`;
  const lines = items.map(({ sku, quantity }) => {
    const { title, cents, stock } = articleOf(sku);
    if (stock < quantity) throw new Error(`"${sku}" is out of stock: ${stock} left, ${quantity} wanted.`);
    database.prepare("UPDATE articles SET stock = stock - ? WHERE sku = ?").run(quantity, sku);
    database.prepare("INSERT INTO lines VALUES (?, ?, ?)").run(reservationId, sku, quantity);
    return { sku, title, quantity, cents: cents * quantity };
  });
  return { reservationId, lines, totalCents: lines.reduce((sum, { cents }) => sum + cents, 0) };
}

function release(reservationId) {
  const lines = database.prepare("SELECT sku, quantity FROM lines WHERE reservation = ?").all(reservationId);
  for (const { sku, quantity } of lines) {
    database.prepare("UPDATE articles SET stock = stock + ? WHERE sku = ?").run(quantity, sku);
  }
  database.prepare("DELETE FROM lines WHERE reservation = ?").run(reservationId);
  return { released: lines.length };
}

function charge(key, card, cents) {
  if (card === "0002") return { approved: false, reason: "insufficient funds" };
  const paymentId = `pay-${key}`;
  database.prepare("INSERT INTO payments VALUES (?, ?, ?)").run(paymentId, card, cents);
  return { approved: true, paymentId };
}

function attempt(work) {
  try {
    const answer = work();
    return { structuredContent: answer, content: [{ type: "text", text: JSON.stringify(answer) }] };
  } catch (error) {
    return { isError: true, content: [{ type: "text", text: error.message }] };
  }
}
