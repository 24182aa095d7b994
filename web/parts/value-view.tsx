import { writeExact } from "pawl/client";
import { useState } from "react";
import { Button } from "./button.tsx";
import { copyText } from "./copy-text.ts";
import { toBytesText } from "./values.tsx";

interface ValueViewProps {
  readonly value: unknown;
  /** Names the value for who cannot see where it stands. */
  readonly label: string;
}

/** Longer texts are opened on demand, so that a page with many of them stays quick. */
const SHOWN_CHARACTERS = 2_000;
const SHOWN_ENTRIES = 100;
const OPEN_DEPTH = 2;

/** A JSON value, as text only: a table where it is a list of like objects, a tree otherwise, and its JSON to copy. */
export function ValueView({ value, label }: ValueViewProps) {
  const [isRaw, setRaw] = useState(false);
  if (value === undefined || value === null) return <p className="text-soft">null</p>;
  if (typeof value !== "object") return <Leaf value={value} />;
  const columns = columnsOf(value);
  return (
    <div>
      <div className="float-right flex gap-1">
        <Button kind="quiet" onClick={() => setRaw(!isRaw)}>
          {isRaw ? (columns === undefined ? "tree" : "table") : "JSON"}
        </Button>
        <Button kind="quiet" aria-label={`Copy ${label} as JSON`} onClick={() => void copyText(toText(value))}>
          copy
        </Button>
      </div>
      {isRaw ? (
        <LongText text={toText(value)} />
      ) : columns === undefined ? (
        <Tree value={value} depth={0} />
      ) : (
        <Table rows={value as readonly Row[]} columns={columns} label={label} />
      )}
    </div>
  );
}

/** Text of any length, from models and programs: never anything but text. */
export function LongText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHOWN_CHARACTERS;
  return (
    <div>
      <pre className="max-h-[32rem] overflow-auto whitespace-pre-wrap break-words font-mono text-xs">
        {isLong && !isWhole ? text.slice(0, SHOWN_CHARACTERS) : text}
      </pre>
      {isLong && (
        <button type="button" className="text-xs text-accent underline" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "show less" : `show all, ${toBytesText(text.length)}`}
        </button>
      )}
    </div>
  );
}

type Row = Readonly<Record<string, unknown>>;

const MAX_COLUMNS = 8;

/** The columns of a list of objects with few and common names; undefined where it is something else. */
function columnsOf(value: object): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length < 2 || !value.every(isRow)) return undefined;
  const names = [...new Set(value.slice(0, SHOWN_ENTRIES).flatMap((row) => Object.keys(row)))];
  return names.length > 0 && names.length <= MAX_COLUMNS ? names : undefined;
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function Table({ rows, columns, label }: { rows: readonly Row[]; columns: readonly string[]; label: string }) {
  const [shown, setShown] = useState(SHOWN_ENTRIES);
  return (
    <div className="max-h-[32rem] overflow-auto">
      <table className="text-left text-xs" aria-label={label}>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} className="sticky top-0 bg-surface pr-4 font-medium text-soft">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row, index) => (
            // The rows of a value have no ids, and never change their places.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <tr key={index} className="border-t border-line align-top">
              {columns.map((name) => (
                <td key={name} className="max-w-80 break-words py-0.5 pr-4">
                  {name in row ? <Tree value={row[name]} depth={OPEN_DEPTH} /> : ""}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <More left={rows.length - shown} onMore={() => setShown(shown * 5)} />
    </div>
  );
}

function Tree({ value, depth }: { readonly value: unknown; readonly depth: number }) {
  const [shown, setShown] = useState(SHOWN_ENTRIES);
  if (typeof value !== "object" || value === null) return <Leaf value={value} />;
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  if (entries.length === 0) return <span className="font-mono text-xs text-soft">{isList ? "[]" : "{}"}</span>;
  const list = (
    <ul className={depth === 0 ? "" : "border-l border-line pl-3"}>
      {entries.slice(0, shown).map(([name, each]) => (
        <li key={name} className="min-w-0">
          <span className="font-mono text-xs text-soft">{name}</span> <Tree value={each} depth={depth + 1} />
        </li>
      ))}
      <More left={entries.length - shown} onMore={() => setShown(shown * 5)} />
    </ul>
  );
  if (depth === 0) return list;
  return (
    <details open={depth < OPEN_DEPTH} className="inline-block align-top">
      <summary className="font-mono text-xs text-soft">
        {isList ? `${entries.length} items` : `${entries.length} fields`}
      </summary>
      {list}
    </details>
  );
}

function More({ left, onMore }: { readonly left: number; readonly onMore: () => void }) {
  if (left <= 0) return null;
  return (
    <button type="button" className="text-xs text-accent underline" onClick={onMore}>
      {left.toLocaleString()} more
    </button>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  if (typeof value === "string" && (value.length > 120 || value.includes("\n"))) return <LongText text={value} />;
  if (typeof value === "string") return <span className="break-words">{value === "" ? '""' : value}</span>;
  return <span className="font-mono text-xs text-accent">{String(value)}</span>;
}

function toText(value: unknown): string {
  return writeExact(value, 2);
}
