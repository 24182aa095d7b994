import { Dialog } from "./dialog.tsx";

const KEYS = [
  ["/", "to the search of a list"],
  ["j k", "down and up in a list"],
  ["Enter", "open what the list is on"],
  ["x", "mark it, for several at once"],
  ["n", "start a run, make a schedule or a key"],
  ["r", "do the run again"],
  ["a", "approve the question"],
  ["Esc", "close what is open"],
  ["?", "these keys"],
] as const;

export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {KEYS.map(([key, what]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-line bg-raised px-1.5 font-mono text-xs">{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
