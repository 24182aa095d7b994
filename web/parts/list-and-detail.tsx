import type { ReactNode } from "react";
import { Button } from "./button.tsx";

interface ListAndDetailProps {
  readonly list: ReactNode;
  /** What was picked of the list. */
  readonly detail?: ReactNode;
  readonly title?: ReactNode;
  readonly onClose: () => void;
}

/** A list and what was picked of it, side by side; on a narrow page one or the other. */
export function ListAndDetail({ list, detail, title, onClose }: ListAndDetailProps) {
  const isOpen = detail !== undefined;
  return (
    <div className="flex min-h-0 flex-1">
      <div className={`flex min-h-0 min-w-0 flex-1 flex-col ${isOpen ? "max-lg:hidden" : ""}`}>{list}</div>
      {isOpen && (
        <section
          aria-label="What was picked"
          className="flex min-h-0 w-full min-w-0 flex-col bg-surface lg:w-[55%] lg:border-l lg:border-line"
        >
          <header className="flex items-center gap-2 border-b border-line px-3 py-1.5">
            <h2 className="min-w-0 flex-1 truncate font-semibold">{title}</h2>
            <Button kind="quiet" hint="Esc" onClick={onClose}>
              <span className="lg:hidden">Back to the list</span>
              <span className="max-lg:hidden">Close</span>
            </Button>
          </header>
          <div tabIndex={0} role="group" aria-label="Details" className="min-h-0 flex-1 overflow-auto px-3 py-3">
            {detail}
          </div>
        </section>
      )}
    </div>
  );
}

/** Names and values of what was picked. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
