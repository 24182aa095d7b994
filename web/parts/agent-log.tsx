import { LongText, ValueView } from "./value-view.tsx";

/** What an agent said and did, in the order in which it came. Everything is text. */
export function AgentLog({ events }: { readonly events: readonly unknown[] }) {
  const entries = events.flatMap(toEntries);
  if (entries.length === 0) return <p className="text-soft">It has said nothing that was recorded.</p>;
  return (
    <ol className="grid gap-1.5">
      {entries.map(({ kind, title, text, value }, index) => (
        // What was said has no ids, and only grows.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={index} className={`border-l-2 pl-2 ${EDGES[kind]}`}>
          <div className="text-xs text-soft">{title}</div>
          {text === undefined ? <ValueView value={value} label={title} /> : <LongText text={text} />}
        </li>
      ))}
    </ol>
  );
}

const EDGES = { says: "border-accent", calls: "border-wait", gets: "border-line", tells: "border-line" } as const;

interface Entry {
  readonly kind: keyof typeof EDGES;
  readonly title: string;
  /** One of both. */
  readonly text?: string;
  readonly value?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** Messages of Sandstorm, blocks of models, and our own events; a shape that is not known is shown as it is. */
function toEntries(event: unknown): readonly Entry[] {
  if (typeof event === "string") return [{ kind: "says", title: "text", text: event }];
  if (!isFields(event)) return [];
  const { type, message, content, text, name, role } = event;
  const blocks = isFields(message) ? message["content"] : content;
  if (typeof blocks === "string") return [{ kind: "says", title: String(role ?? type ?? "message"), text: blocks }];
  if (Array.isArray(blocks)) return blocks.flatMap(toBlock);
  if (type === "text" && typeof text === "string") return [{ kind: "says", title: "says", text }];
  if (typeof type === "string" && (type.includes("tool") || typeof name === "string")) return toBlock(event);
  return [{ kind: "tells", title: typeof type === "string" ? type : "event", value: event }];
}

function toBlock(block: unknown): readonly Entry[] {
  if (typeof block === "string") return [{ kind: "says", title: "says", text: block }];
  if (!isFields(block)) return [];
  const { type, text, thinking, name, input, content, is_error: isError } = block;
  if (typeof text === "string") return [{ kind: "says", title: type === "text" ? "says" : String(type), text }];
  if (typeof thinking === "string") return [{ kind: "tells", title: "thinks", text: thinking }];
  if (type === "tool_use" || type === "tool_call" || type === "tool-call") {
    return [
      {
        kind: "calls",
        title: `calls ${String(name ?? block["toolName"] ?? "a tool")}`,
        value: input ?? block["args"] ?? block["arguments"] ?? {},
      },
    ];
  }
  if (type === "tool_result" || type === "tool-result") {
    const result = textOf(content ?? block["output"] ?? block["result"]);
    const title = isError === true ? "gets an error" : "gets";
    return [
      typeof result === "string" ? { kind: "gets", title, text: result } : { kind: "gets", title, value: result },
    ];
  }
  return [{ kind: "tells", title: String(type ?? "event"), value: block }];
}

/** The text of a list of text blocks; any other value as it is. */
function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  const texts = content.map((part) => (isFields(part) && typeof part["text"] === "string" ? part["text"] : undefined));
  return texts.every((text) => text !== undefined) ? texts.join("\n") : content;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
