import type { PoolShare, PoolUse } from "../../ports/pool-shares.ts";

/** What a process has of a pool, and what it does there. */
interface Member {
  readonly places: number;
  readonly inFlight: number;
  /** The calls in flight and those that wait. */
  readonly wanted: number;
  /** Then it has nothing any more, in milliseconds since the epoch. */
  readonly until: number;
}

/** By the id of the process. */
export type Members = Readonly<Record<string, Member>>;

export interface Asking {
  readonly id: string;
  readonly use: PoolUse;
  readonly now: number;
  readonly leaseMs: number;
}

/** Where there are fewer places than processes, or some are left over, each has its turn for so long. */
const TURN_MS = 2_000;

/**
 * What a process may use of a pool when it tells what it does there. Each may have an equal part; what others do not want of theirs is
 * free for all. Nothing is taken from a process before it tells by itself that it uses less, so that all together never have more
 * than the limit.
 */
export function dividePlaces(
  members: Members,
  asking: Asking,
): { readonly members: Members; readonly share: PoolShare } {
  const { id, use, now, leaseMs } = asking;
  const { name, inFlight } = use;
  const others = Object.entries(members).filter(([other, { until }]) => other !== id && until > now);
  const wanted = inFlight + use.waiting;
  const places = wanted === 0 || use.max === undefined ? 0 : placesOf(use.max, others, { id, inFlight, wanted, now });
  const rest = Object.fromEntries(others);
  const elsewhere = sum(others, (other) => other.inFlight);
  const wanting = others.filter(([, other]) => other.wanted > other.inFlight).length;
  const mine = { places, inFlight, wanted, until: now + leaseMs };
  return {
    members: wanted === 0 ? rest : { ...rest, [id]: mine },
    share: { name, places, elsewhere, wanting },
  };
}

type Entry = readonly [string, Member];

function placesOf(
  max: number,
  others: readonly Entry[],
  mine: { readonly id: string; readonly inFlight: number; readonly wanted: number; readonly now: number },
): number {
  const ids = [mine.id, ...others.map(([id]) => id)].sort();
  const equalTo = (id: string) => {
    const turn = (ids.indexOf(id) + Math.floor(mine.now / TURN_MS)) % ids.length;
    return Math.floor(max / ids.length) + (turn < max % ids.length ? 1 : 0);
  };
  const claimed = others.reduce((all, [id, { wanted }]) => all + Math.min(wanted, equalTo(id)), 0);
  const fair = Math.max(equalTo(mine.id), max - claimed);
  const free = max - sum(others, ({ places }) => places);
  return Math.max(mine.inFlight, Math.min(mine.wanted, fair, free));
}

function sum(entries: readonly Entry[], of: (member: Member) => number): number {
  return entries.reduce((all, [, member]) => all + of(member), 0);
}
