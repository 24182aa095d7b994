import { howNear, SHOWN_AMOUNTS, type ShownAmount } from "../../core/amounts.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { RunLimits, UseLimits } from "../../core/graph/graph.ts";
import type { RunState } from "../../core/history/run-state.ts";
import { type LimitUse, limitUses } from "../../core/interpreter/budget/use-limits.ts";

/** How far a run may go beside money, as people write it. */
export interface WantedLimits {
  readonly max_tokens?: number | undefined;
  /** Every try of a step that does work counts. */
  readonly max_steps?: number | undefined;
  readonly max_seconds?: number | undefined;
}

/** Undefined: it is not limited. */
export function toUseLimits(wanted: WantedLimits): UseLimits | undefined {
  const { max_tokens: maxTokens, max_steps: maxTries, max_seconds: maxSeconds } = wanted;
  const uses: UseLimits = {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxTries === undefined ? {} : { maxTries }),
    ...(maxSeconds === undefined ? {} : { maxDurationMs: Math.round(maxSeconds * 1_000) }),
  };
  for (const limit of Object.values(uses)) {
    if (!Number.isSafeInteger(limit) || limit < 0)
      throw new PawlError("USAGE", { message: `A limit of a run is a number from 0; ${limit} is none.` });
  }
  return Object.keys(uses).length === 0 ? undefined : uses;
}

export interface LimitDescription {
  readonly of: ShownAmount;
  readonly limit: number;
  readonly used: number;
  /** `near`: 80 % are used. */
  readonly is: "ok" | "near" | "used_up";
}

export function describeLimits(state: RunState): readonly LimitDescription[] {
  return limitUses(state).map(showLimit);
}

export function showLimit({ of, limit, used }: LimitUse): LimitDescription {
  return {
    of: SHOWN_AMOUNTS[of].of,
    limit: limit / SHOWN_AMOUNTS[of].unit,
    used: used / SHOWN_AMOUNTS[of].unit,
    is: howNear(used, limit),
  };
}

/** Limits beside money before anything is used, as they are written. */
export interface RunLimitsDescription {
  readonly max_tokens?: number;
  readonly max_steps?: number;
  readonly max_seconds?: number;
  readonly on_exceeded: "stop" | "ask";
}

export function describeRunLimits({ uses = {}, onExceeded = "stop" }: Pick<RunLimits, "uses" | "onExceeded">): {
  readonly limits?: RunLimitsDescription;
} {
  const { maxTokens, maxTries, maxDurationMs } = uses;
  if (Object.keys(uses).length === 0 && onExceeded === "stop") return {};
  return {
    limits: {
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
      ...(maxTries === undefined ? {} : { max_steps: maxTries }),
      ...(maxDurationMs === undefined ? {} : { max_seconds: maxDurationMs / 1_000 }),
      on_exceeded: onExceeded,
    },
  };
}
