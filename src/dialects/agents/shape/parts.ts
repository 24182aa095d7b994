import type { Json, JsonObject } from "../../../core/json.ts";
import { oneOrMore } from "../../shape/containers.ts";
import { optional } from "../../shape/fields.ts";
import { integer, number, text } from "../../shape/scalars.ts";
import { type DialectRules, type Shape, type Text, to } from "../../shape/shape.ts";
import { toExcerpt } from "../../source/printable.ts";
import { describeNode, type YamlNode } from "../../source/yaml-node.ts";
import type { Named, Setting } from "../agents-file.ts";

/** Files of this format write numbers and flags as texts as well: "0.7", "True". */
export const rules: DialectRules = { unknownKeys: "warning", nulls: "absent", scalars: "loose" };

export function toNamed({ value, at }: Text): Named {
  return { name: value, at };
}

/** Names; one text counts as a list of one. */
export function names(item: Shape<Text> = text()): Shape<readonly Named[]> {
  return to(oneOrMore(item), (texts) => texts.map(toNamed));
}

/** The value, with the place where it is written. */
export function setting<T extends Json>(shape: Shape<T>): Shape<Setting> {
  return {
    ...shape,
    read(node, spot, reader) {
      const value = shape.read(node, spot, reader);
      return value === undefined ? undefined : { value, place: reader.source.place(node) };
    },
  };
}

export function textSetting(): Shape<Setting> {
  return setting(to(text(), ({ value }) => value));
}

export function namesSetting(item?: Shape<Text>): Shape<Setting> {
  return setting(to(names(item), (found): Json => [...new Set(found.map(({ name }) => name))]));
}

/** Complaints of these values are not begun as those of the component's own settings. */
export function plain<T>(shape: Shape<T>): Shape<T> {
  return { ...shape, read: (node, spot, reader) => shape.read(node, spot, reader.within(undefined)) };
}

/** Texts by name, e.g. of an environment; numbers and flags as they are written. */
export function texts(): Shape<JsonObject> {
  return {
    expected: "a map of texts",
    kinds: ["map"],
    read(node, spot, reader) {
      if (node.kind !== "map") return reader.wrongType(node, spot, this);
      const entries = [...node.entries].flatMap(([name, { value }]): [string, Json][] => {
        const written = writtenIn(value);
        if (written !== undefined) return [[name, written]];
        const key = `${spot.name.slice(0, -1)}.${toExcerpt(name)}\``;
        reader.invalid(value, `${key} must be a text, not ${describeNode(value)}.`);
        return [];
      });
      return Object.fromEntries(entries);
    },
    toSchema: () => ({ type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } }),
  };
}

function writtenIn(node: YamlNode): string | undefined {
  if (node.kind !== "scalar") return undefined;
  return typeof node.value === "string" ? node.value : node.written;
}

const filledText = to(text(), ({ value, at }, { source }): Setting | undefined =>
  value.trim() === "" ? undefined : { value, place: source.place(at) },
);

/** Settings that an `llm` component may have as well. */
export const ofModels = {
  model: optional(filledText, "The model: `provider:model`, or an alias of the configuration."),
  temperature: optional(setting(number({ min: 0, max: 2 })), "How freely it answers, from 0 to 2."),
  max_tokens: optional(setting(integer(1, 100_000_000)), "The longest answer, in tokens."),
};

export const seconds = number({ min: 0.001, max: 31_536_000 });
export const cost = number({ min: 0.000001, max: 1_000_000 });

const BUILT_IN_TOOLS = ["web_fetch", "web_search", "files", "bash"];

/** A tool that Pawl itself gives to agents that list it. */
export const builtInTool = text({
  pattern: `^(${BUILT_IN_TOOLS.join("|")})$`,
  wrong: (written) => ({
    code: "VALUE_INVALID",
    message: `\`tools\` cannot hold \`${written}\`; the built-in tools are ${BUILT_IN_TOOLS.join(", ")}.`,
    remedy: "Tools of MCP servers are named under `allow`.",
  }),
});
