import { useState } from "react";
import { Link } from "wouter";

interface Told {
  readonly code: string;
  readonly message: string;
  readonly remedy?: string | null | undefined;
}

const SHOWN = 600;

/** An error in full: its code, what happened, what to do next. A long message opens on demand. */
export function Problem({ error, children }: { readonly error: Told; readonly children?: React.ReactNode }) {
  const [isWhole, setWhole] = useState(false);
  const { code, message, remedy } = error;
  const isLong = message.length > SHOWN;
  return (
    <div role="alert" className="rounded border border-bad/40 bg-bad/8 px-3 py-2">
      <div className="font-mono text-xs font-semibold text-bad">{code}</div>
      <p className="mt-0.5 max-h-96 overflow-auto whitespace-pre-wrap break-words">
        {isLong && !isWhole ? `${message.slice(0, SHOWN)}…` : message}
      </p>
      {isLong && (
        <button type="button" className="text-xs text-accent underline" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "show less" : `show all ${message.length.toLocaleString()} characters`}
        </button>
      )}
      {remedy && <p className="mt-1 whitespace-pre-wrap break-words text-soft">{remedy}</p>}
      {code === "MCP_LOGIN_NEEDED" && children === undefined && (
        <Link href="/agents?tab=servers" className="text-accent underline">
          Log in, at the MCP servers
        </Link>
      )}
      {children}
    </div>
  );
}
