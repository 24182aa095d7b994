interface TabsProps {
  readonly label: string;
  /** What stands in the address, the words, and a number beside them. */
  readonly tabs: readonly (readonly [value: string, words: string, count?: number])[];
  readonly value: string;
  readonly onPick: (value: string) => void;
}

/** Ways to look at the same thing. Arrow keys go from one to the next. */
export function Tabs({ label, tabs, value, onPick }: TabsProps) {
  const move = (by: number) => {
    const at = tabs.findIndex(([each]) => each === value);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (next !== undefined) onPick(next[0]);
  };
  return (
    <div role="tablist" aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line px-2">
      {tabs.map(([each, words, count]) => (
        <button
          key={each}
          type="button"
          role="tab"
          aria-selected={each === value}
          tabIndex={each === value ? 0 : -1}
          className="-mb-px whitespace-nowrap border-b-2 border-transparent px-2 py-1.5 text-sm text-soft hover:text-ink aria-selected:border-accent aria-selected:text-ink"
          onClick={() => onPick(each)}
          onKeyDown={(event) => {
            if (event.key === "ArrowRight") move(1);
            if (event.key === "ArrowLeft") move(-1);
          }}
        >
          {words}
          {count !== undefined && count > 0 && <span className="ml-1 text-xs text-soft">{count.toLocaleString()}</span>}
        </button>
      ))}
    </div>
  );
}
