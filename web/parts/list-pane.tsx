import type { ReactNode } from "react";
import { Loading } from "./loading.tsx";
import { Problem } from "./problem.tsx";
import { Rows } from "./rows.tsx";

interface ListPaneProps<Item> {
  readonly label: string;
  readonly list: {
    readonly items: readonly Item[];
    readonly error: Parameters<typeof Problem>[0]["error"] | null;
    readonly isPending: boolean;
    readonly more: () => void;
  };
  readonly keyOf: (item: Item) => string;
  readonly row: (item: Item) => ReactNode;
  readonly at: number;
  readonly height: number;
  /** What is shown where there is nothing. */
  readonly empty: ReactNode;
}

/** A list that is being read, could not be read, is empty, or has rows. */
export function ListPane<Item>({ label, list, empty, ...rows }: ListPaneProps<Item>) {
  const { items, error, isPending, more } = list;
  if (items.length > 0) return <Rows label={label} items={items} onEnd={more} {...rows} />;
  if (error !== null) {
    return (
      <div className="p-4">
        <Problem error={error} />
      </div>
    );
  }
  return isPending ? <Loading what="the list" /> : empty;
}
