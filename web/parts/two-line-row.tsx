import type { ReactNode } from "react";
import { Link } from "wouter";
import { StatusSign } from "./status.tsx";

interface Part {
  readonly left: ReactNode;
  /** The whole text, where it may be cut off. */
  readonly title: string;
  readonly right?: ReactNode;
}

interface TwoLineRowProps {
  /** A status, by its sign. */
  readonly sign: string;
  readonly first: Part;
  readonly second: Part;
  readonly isPicked: boolean;
  /** Where the row leads. Without it `onPick` is called. */
  readonly href?: string;
  readonly onPick?: () => void;
}

const LOOK =
  "grid w-full grid-cols-[auto_minmax(0,1fr)_auto] gap-x-2 px-3 py-1.5 text-left aria-[current=true]:bg-raised aria-[current=true]:shadow-[inset_3px_0_0_var(--color-accent)]";

/** A row of a list whose items are picked: a sign, what it is, and what there is to know of it. */
export function TwoLineRow({ sign, first, second, isPicked, href, onPick }: TwoLineRowProps) {
  const inside = (
    <>
      <span className="pt-0.5">
        <StatusSign status={sign} />
      </span>
      <span className="truncate" title={first.title}>
        {first.left}
      </span>
      <span className="text-right text-soft">{first.right}</span>
      <span className="col-start-2 truncate text-soft" title={second.title}>
        {second.left}
      </span>
      <span className="text-right text-soft">{second.right}</span>
    </>
  );
  if (href !== undefined)
    return (
      <Link href={href} aria-current={isPicked} className={LOOK}>
        {inside}
      </Link>
    );
  return (
    <button type="button" aria-current={isPicked} className={LOOK} onClick={onPick}>
      {inside}
    </button>
  );
}
