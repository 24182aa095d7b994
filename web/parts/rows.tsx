import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useCallback, useEffect, useRef } from "react";

interface RowsProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly row: (item: Item, index: number) => ReactNode;
  /** Pixels of a row; rows that are higher are measured. */
  readonly height?: number;
  /** The one that the keys are on. */
  readonly at?: number;
  /** The end of what is there comes into sight: read more. */
  readonly onEnd?: () => void;
  readonly head?: ReactNode;
  /** Of the whole list, where not all of it has been read. */
  readonly total?: number;
}

/** A list of any length, of which only what is in sight is drawn. */
export function Rows<Item>({ label, items, keyOf, row, height = 34, at, onEnd, head, total }: RowsProps<Item>) {
  const frame = useRef<HTMLDivElement>(null);
  const key = useRef(keyOf);
  key.current = keyOf;
  // Another function makes the places of all rows be computed anew: only where there are other rows.
  const getItemKey = useCallback(
    (index: number) => {
      const item = items[index];
      return item === undefined ? index : key.current(item);
    },
    [items],
  );
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    getItemKey,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd !== undefined && items.length > 0 && last >= items.length - 20) onEnd();
  }, [last, items.length, onEnd]);
  useEffect(() => {
    if (at !== undefined && at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);
  return (
    <div ref={frame} tabIndex={0} role="list" aria-label={label} className="min-h-0 flex-1 overflow-auto">
      {head}
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {shown.map(({ index, key, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              role="listitem"
              aria-setsize={total ?? items.length}
              aria-posinset={index + 1}
              data-at={index === at ? "" : undefined}
              className="absolute inset-x-0 top-0 border-b border-line/60 hover:bg-raised data-at:bg-accent/12"
              style={{ transform: `translateY(${start}px)`, minHeight: height }}
            >
              {row(item, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
