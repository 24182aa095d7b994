import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../test/fakes/direct-graph.ts";
import { type AgentsNews, watchAgentsRun } from "./watch-agents-run.ts";

test("the result of a tool is not told as the agent's words", () => {
  const graph = toGraph([{ ...agentTask("1"), executor: "inline" }]);
  const told: AgentsNews[] = [];
  const listen = watchAgentsRun(graph, (news) => told.push(news));
  const live = (event: { readonly [name: string]: string | boolean }) =>
    listen({ type: "live", path: "1", attempt: 1, event });
  live({ type: "text", text: "I look it up. " });
  live({ type: "tool_result", id: "t1", name: "read", is_error: false, text: "secret plans" });
  live({ type: "text", text: "It is sunny." });
  expect(told.filter(({ event }) => event === "text").map(({ data }) => data["text"])).toEqual([
    "I look it up. ",
    "It is sunny.",
  ]);
});
