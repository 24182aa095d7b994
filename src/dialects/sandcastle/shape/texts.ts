import { anyMap, anything, either } from "../../shape/containers.ts";
import { text } from "../../shape/scalars.ts";
import { type Reader, type Shape, type Text, to } from "../../shape/shape.ts";
import { toExcerpt } from "../../source/printable.ts";
import type { YamlNode } from "../../source/yaml-node.ts";
import { leavesStorage } from "../references/reference.ts";
import { parseTemplate, type Slot, slotsOf, type Template } from "../references/template.ts";
import { parsePath, parseValue, type Value } from "../references/value.ts";

/** A text with slots for values: `{input.X}`, `{steps.ID.output}`. */
export function template(shape: Shape<Text> = text()): Shape<Template> {
  return to(shape, parseTemplate);
}

/** JSON with slots in its texts; a text that is one slot is the value itself. */
export function value(): Shape<Value> {
  return to(anything("a value"), toValue);
}

/** Names, and values with slots in their texts. */
export function valueMap(): Shape<Map<string, Value>> {
  return to(anyMap(), ({ entries }, reader) => {
    const values = [...entries].map(([name, entry]) => [name, toValue(entry.value, reader)] as const);
    return new Map(values);
  });
}

const ONE_SLOT = text({
  expected: "a map",
  pattern: "^\\s*\\{[^{}]+\\}\\s*$",
  wrong: (_, name) => ({
    message: `${name} must be a map, or one value that is a map.`,
    remedy: "Write names and values, or `{steps.ID.output}`.",
  }),
});

/** Names and values, or one slot whose value has them. */
export function params(): Shape<Value> {
  return either(
    to(ONE_SLOT, ({ at }, reader) => toValue(at, reader)),
    to(anyMap(), toValue),
  );
}

function toValue(node: YamlNode, reader: Reader): Value {
  return parseValue(node, reader, { barePaths: false });
}

/** A path without braces, or with them. */
export function path(): Shape<Slot> {
  return to(text({ expected: "a path" }), parsePath);
}

/** A list of the input or of a step. */
export function listPath(): Shape<Slot> {
  return to(text({ expected: "a path" }), (written, reader, spot) => {
    const slot = parsePath(written, reader, spot);
    if (slot === undefined) return undefined;
    const { reference } = slot;
    if (reference.to === "step" || (reference.to === "input" && reference.path.length > 0)) return slot;
    const message = `${spot.name} takes a list from the input or from a step, not \`${toExcerpt(written.value)}\`.`;
    reader.problems.error({ code: "EXPRESSION_INVALID", at: written.at, message });
    return undefined;
  });
}

/** Kept as written: `${NAME}` is resolved when the URL is used and never stored. Blank: as if it were absent. */
export function url(): Shape<string> {
  const shape = text({
    expected: "a URL",
    pattern: "^(\\s*|(https?:\\/\\/|\\$\\{)\\S+)$",
    wrong: (_, name) => ({
      message: `${name} must be a URL, or a variable such as \`\${SANDSTORM_URL}\`.`,
      remedy: "Begin it with `http://` or `https://`.",
    }),
  });
  return to(shape, ({ value }) => (value.trim() === "" ? undefined : value));
}

/** A file or folder that the workflow names, not a model: only the input and the run may stand in it. */
export function exportPath(key: "directory" | "filename"): Shape<Template> {
  return to(text(), (written, reader) => {
    const { problems } = reader;
    if (leavesStorage(written.value)) {
      const message = `\`${key}\`: \`${toExcerpt(written.value)}\` leaves the storage.`;
      const remedy = "Files lie in the application's storage: write a relative path without `..`.";
      problems.error({ code: "STORAGE_PATH_INVALID", at: written.at, message, remedy });
    }
    if (key === "filename" && /[\\/]/.test(written.value)) {
      const message = `\`filename\` is the name alone, not \`${toExcerpt(written.value)}\`.`;
      problems.error({ code: "VALUE_INVALID", at: written.at, message, remedy: "Write the folder as `directory`." });
    }
    const parsed = parseTemplate(written, reader);
    for (const slot of slotsOf(parsed)) {
      if (slot.reference.to === "input" || slot.reference.to === "run") continue;
      const message = `\`${key}\` cannot hold \`${toExcerpt(slot.written)}\`.`;
      problems.error({ code: "VALUE_INVALID", at: slot, message, remedy: "Use `{input.X}`, `{run_id}` or `{date}`." });
    }
    return parsed;
  });
}
