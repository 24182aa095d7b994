import type { CronSettings, Trigger } from "../../core/graph/graph.ts";
import { isTimezone } from "../../core/iso-time.ts";
import { isJsonObject } from "../../core/json.ts";

import { anyMap } from "../shape/containers.ts";
import { expected, optional, withDefault } from "../shape/fields.ts";
import { object, type Spelling } from "../shape/object.ts";
import { choice, filled } from "../shape/scalars.ts";
import { seldom, to } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import { toJson } from "../source/yaml-node.ts";

const timezone = to(filled("Europe/Berlin"), ({ value, at }, { problems }) => {
  if (isTimezone(value)) return value;
  const message = `There is no time zone \`${toExcerpt(value)}\`.`;
  problems.error({ code: "VALUE_INVALID", at, message, remedy: "Use an IANA name, for example `Europe/Berlin`." });
  return undefined;
});

interface CronWords {
  readonly spell: Spelling;
  readonly missing: { readonly message: string; readonly remedy: string };
  readonly saysInput: string;
  readonly cancels: "cancelPrevious" | "cancel_previous";
}

/** When a workflow starts by itself, with what its schedule must not be left to others to say. */
export const toCron = (words: CronWords) => seldom(() => describe(words));

const describe = ({ spell, missing, saysInput, cancels }: CronWords) =>
  to(
    spell(
      object({
        schedule: expected(
          filled("0 6 * * 1-5"),
          "Five fields: minute, hour, day, month, weekday; or a nickname such as `@daily`.",
          { also: ["cron", "expression"], missing },
        ),
        timezone: withDefault(timezone, "UTC", "An IANA name."),
        input: optional(
          to(anyMap(), (map) => {
            const value = toJson(map);
            return isJsonObject(value) ? value : undefined;
          }),
          saysInput,
        ),
        catchUp: optional(
          choice(["none", "one", "all"]),
          "Which slots that passed while no server ran are caught up: none, the last one, or the last hundred.",
          { also: ["catch_up"], otherwise: "`one`" },
        ),
        overlap: optional(
          choice(["skip", "queue", cancels]),
          "What becomes of a slot while the run of the slot before is under way.",
          { otherwise: "`skip`" },
        ),
      }),
    ),
    ({ schedule, timezone, input, catchUp, overlap }, { later }): Trigger | undefined => {
      if (schedule === undefined) return undefined;
      later.push({ kind: "cron", text: schedule });
      const says: CronSettings = {
        ...(input === undefined ? {} : { input }),
        ...(catchUp === undefined ? {} : { catchUp }),
        ...(overlap === undefined ? {} : { overlap: overlap === "cancelPrevious" ? "cancel_previous" : overlap }),
      };
      return { kind: "cron", schedule: schedule.value, timezone, ...(Object.keys(says).length === 0 ? {} : { says }) };
    },
  );
