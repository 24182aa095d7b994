import { useState } from "react";
import { useCall } from "../../data/use-call.ts";
import { Choice } from "../../parts/fields.tsx";
import { LineDiff } from "../../parts/line-diff.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Time } from "../../parts/values.tsx";

interface VersionsProps {
  readonly name: string;
  /** As it stands in the editor. */
  readonly text: string;
}

const EDITOR = "editor";

/** The versions of a saved workflow, and how two of them, or one and the text in the editor, differ line by line. */
export function Versions({ name, text }: VersionsProps) {
  const { data, error } = useCall("GET /workflows/{name}/versions", { name, limit: 200 });
  const newest = data?.items[0]?.version;
  const [picked, setPicked] = useState<string>();
  const [right, setRight] = useState(EDITOR);
  const left = picked ?? (newest === undefined ? undefined : String(newest));
  const before = useText(name, left);
  const after = useText(name, right === EDITOR ? undefined : right);
  const shown = right === EDITOR ? text : after;
  if (error) {
    return (
      <div className="p-3">
        <Problem error={error} />
      </div>
    );
  }
  if (data === undefined) return <Loading what="the versions" />;
  const versions = data.items.map(({ version }) => [String(version), `version ${version}`] as const);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <ul aria-label="Versions" className="max-h-40 shrink-0 overflow-auto border-b border-line">
        {data.items.map(({ version, saved_at: at }) => (
          <li key={version} className="flex justify-between gap-3 px-3 py-1">
            <button type="button" className="text-accent hover:underline" onClick={() => setPicked(String(version))}>
              version {version}
            </button>
            <span className="text-soft">
              saved <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
      <div className="grid grid-cols-2 gap-2 px-3 py-2">
        <Choice label="From" value={left ?? ""} choices={versions} onPick={setPicked} />
        <Choice
          label="To"
          value={right}
          choices={[[EDITOR, "the text in the editor"], ...versions]}
          onPick={setRight}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-auto px-3 pb-3">
        {before === undefined || shown === undefined ? (
          <Loading what="both texts" />
        ) : before === shown ? (
          <p className="text-soft">They are the same.</p>
        ) : (
          <LineDiff before={before} after={shown} />
        )}
      </div>
    </div>
  );
}

function useText(name: string, version: string | undefined): string | undefined {
  const { data } = useCall(
    "GET /workflows/{name}",
    { name, ...(version === undefined ? {} : { version: Number(version) }) },
    { enabled: version !== undefined },
  );
  return version === undefined ? undefined : data?.text;
}
