import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type RunningServer, startServer } from "../support/server.ts";

const ORDERS = fileURLToPath(new URL("../../../examples/orders", import.meta.url));

const ORDER = {
  customer: { name: "Ada Lovelace", email: "ada@example.org" },
  items: [{ sku: "PEN-BLUE", quantity: 2 }],
  card: "4242",
};

/** The example as it stands, with data and stock of its own. */
async function startOrders(): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-orders-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return startServer(["--app", ORDERS, "--data", join(folder, "data")], {
    cwd: folder,
    env: { SHOP_DATABASE: join(folder, "shop.db") },
  });
}

function post(server: RunningServer, order: unknown): Promise<Response> {
  return fetch(`${server.url}/api/v1/orders`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof order === "string" ? order : JSON.stringify(order),
  });
}

test("an order is checked in Python, reserved and charged over MCP, and confirmed by the model", async () => {
  const server = await startOrders();
  const created = await post(server, ORDER);
  expect(created.status).toBe(201);
  expect(created.headers.get("content-type")).toBe("application/json");
  expect(await created.json()).toEqual({
    orderId: expect.stringMatching(/^order-[0-9a-f]{12}$/),
    totalCents: 500,
    payment: expect.stringMatching(/^pay-[0-9a-f]{12}$/),
    message: "Thank you for your order. It leaves our house tomorrow morning.",
  });
  const stock = await fetch(`${server.url}/api/v1/stock/PEN-BLUE`);
  expect(await stock.json()).toMatchObject({ sku: "PEN-BLUE", stock: 98 });
});

test("an order that is not valid is answered with 422 and what is wrong", async () => {
  const server = await startOrders();
  const refused = await post(server, { ...ORDER, items: [{ sku: "pen", quantity: 0 }], extra: 1 });
  expect(refused.status).toBe(422);
  expect(await refused.json()).toEqual({
    error: "The order is not valid.",
    violations: [
      "order.items[0].sku does not match ^[A-Z0-9-]{3,20}$",
      "order.items[0].quantity must be at least 1",
      "order.extra is not known",
    ],
  });
  const torn = await post(server, "{");
  expect(torn.status).toBe(422);
});

test("a declined card is answered with 402, and the stock is released", async () => {
  const server = await startOrders();
  const declined = await post(server, { ...ORDER, card: "0002" });
  expect(declined.status).toBe(402);
  expect(await declined.json()).toEqual({ error: "The card was declined.", reason: "insufficient funds" });
  const stock = await fetch(`${server.url}/api/v1/stock/PEN-BLUE`);
  expect(await stock.json()).toMatchObject({ stock: 100 });
});

test("what the shop does not have is answered with 409, and an unknown article with 404", async () => {
  const server = await startOrders();
  const order = { ...ORDER, items: [{ sku: "DESK-OAK", quantity: 2 }] };
  const short = await post(server, order);
  expect(short.status).toBe(409);
  expect(await short.json()).toEqual({ error: expect.stringContaining("out of stock") });
  const missing = await fetch(`${server.url}/api/v1/stock/NOPE`);
  expect(missing.status).toBe(404);
});
