import { randomUUID } from "node:crypto";
import { Annotation, type BaseCheckpointSaver, END, Send, START, StateGraph } from "@langchain/langgraph";
import type { Peer } from "./peer.ts";

const State = Annotation.Root({ done: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }) });

/** Each step is a node; `durability: "sync"` has a step's checkpoint written before the next one begins. */
export function openLangGraph(checkpointer: BaseCheckpointSaver): Pick<Peer, "sequence" | "fanOut"> {
  const sequences = new Map<number, ReturnType<typeof compileSequence>>();
  const fan = new StateGraph(State)
    .addNode("step", async () => ({ done: 1 }))
    .addNode("join", async () => ({ done: 1 }))
    .addConditionalEdges(START, ({ done }) => Array.from({ length: 500 }, () => new Send("step", { done })))
    .addEdge("step", "join")
    .addEdge("join", END)
    .compile({ checkpointer });
  const compileSequence = (steps: number) => {
    // biome-ignore lint/suspicious/noExplicitAny: the type of such a graph grows with each node.
    const graph: any = new StateGraph(State);
    for (let n = 0; n < steps; n += 1) {
      graph.addNode(`s${n}`, async () => ({ done: 1 }));
      graph.addEdge(n === 0 ? START : `s${n - 1}`, `s${n}`);
    }
    graph.addEdge(`s${steps - 1}`, END);
    return graph.compile({ checkpointer });
  };
  const options = () => ({
    configurable: { thread_id: randomUUID() },
    durability: "sync" as const,
    recursionLimit: 200_000,
  });
  return {
    async sequence(steps) {
      const graph = sequences.get(steps) ?? compileSequence(steps);
      sequences.set(steps, graph);
      const { done } = await graph.invoke({ done: 0 }, options());
      if (done !== steps) throw new Error(`${done} of ${steps} steps were done.`);
    },
    async fanOut(steps) {
      const { done } = await fan.invoke({ done: 0 }, options());
      if (done !== steps + 1) throw new Error(`${done} of ${steps + 1} steps were done.`);
    },
  };
}
