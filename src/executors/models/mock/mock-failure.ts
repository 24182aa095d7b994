import type { ScriptedFailure } from "./agent-script.ts";

/** What a mock model fails with: as the script says, and with what it says that it cost. */
export class MockFailure extends Error {
  readonly failure: ScriptedFailure;
  readonly costMicro: number | null;

  constructor(failure: ScriptedFailure, costMicro: number | null) {
    super(failure.message);
    this.name = "MockFailure";
    this.failure = failure;
    this.costMicro = costMicro;
  }
}
