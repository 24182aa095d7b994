import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openConversations } from "../../src/app/open-service-records.ts";
import type { Conversations } from "../../src/ports/conversations.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const ALL = { exchanges: 10, chars: 1_000 };

function open(path: string): Conversations {
  const conversations = openConversations({ path, durability: "power" });
  onTestFinished(() => conversations.close());
  return conversations;
}

test("what was kept before there were tenants is the application's own, and no tenant's", async () => {
  const path = join(temporaryFolder(), "conversations.db");
  const old = new DatabaseSync(path);
  old.exec(`CREATE TABLE exchanges (no INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, session TEXT NOT NULL,
      key TEXT NOT NULL, at INTEGER NOT NULL, user_said TEXT NOT NULL, agent_said TEXT NOT NULL,
      UNIQUE (agent, session, key)) STRICT;
    CREATE INDEX exchanges_by_session ON exchanges (agent, session, no);
    INSERT INTO exchanges VALUES (1, 'A', 's', 'k', 1, 'hi', 'ho')`);
  old.close();
  for (const _ of [1, 2]) {
    const conversations = open(path);
    expect(await conversations.read({ agent: "A", id: "s" }, ALL)).toEqual([{ user: "hi", agent: "ho" }]);
    expect(await conversations.read({ tenantId: "one", agent: "A", id: "s" }, ALL)).toEqual([]);
  }
});
