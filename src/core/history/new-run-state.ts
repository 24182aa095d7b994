import type { IndexedGraph } from "../graph/indexed-graph.ts";
import { Queue } from "../queue.ts";
import type { RunState } from "./run-state.ts";

/** Takes some milliseconds. */
const MOST_BEGUN = 2_000;

export function newRunState(graph: IndexedGraph, mostBegun = MOST_BEGUN): RunState {
  return {
    runId: "",
    workflow: graph.graph.name,
    seq: 0,
    now: 0,
    startedAt: 0,
    phase: "new",
    ending: undefined,
    stopping: undefined,
    root: undefined,
    graph,
    graphs: new Map([[graph.hash, graph]]),
    active: new Map(),
    timers: new Map(),
    signals: new Map(),
    signalKeys: new Map(),
    waiters: new Map(),
    answers: new Map(),
    orphans: new Map(),
    paidCalls: new Map(),
    blocked: new Queue(),
    later: new Queue(),
    mostBegun,
    isSuspended: false,
    isHeld: false,
    place: undefined,
    queued: undefined,
    budget: {
      limitMicro: undefined,
      spentMicro: 0,
      openMicro: 0,
      lostMicro: 0,
      unbounded: 0,
      costs: new Map(),
      unpriced: false,
      uses: {},
      asks: undefined,
      set: {},
      raisedBy: [],
      exhausted: undefined,
      question: undefined,
      tokens: 0,
      tries: 0,
    },
    storedBytes: 0,
    reusesOutcomes: false,
    tasksInFlight: 0,
    approvalsOpen: 0,
    stepsHeld: 0,
    visits: 0,
    partial: false,
    failures: [],
  };
}
